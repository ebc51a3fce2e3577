//! Delta debugging of one list.

/// Leaves out whole groups of the list, then single entries by delta debugging.
pub(super) fn reduce<T: Clone>(
    list: &mut Vec<T>,
    groups: Vec<Vec<usize>>,
    mut fails: impl FnMut(&[T]) -> bool,
) {
    let without = |list: &[T], gone: &dyn Fn(usize) -> bool| -> Vec<T> {
        list.iter().enumerate().filter(|(at, _)| !gone(*at)).map(|(_, entry)| entry.clone()).collect()
    };
    // Indexes of what is left, as groups speak of the list as it was.
    let original = list.clone();
    let mut left: Vec<usize> = (0..original.len()).collect();
    for group in groups {
        let rest: Vec<usize> = left.iter().copied().filter(|at| !group.contains(at)).collect();
        if rest.len() < left.len() {
            let candidate: Vec<T> = rest.iter().map(|at| original[*at].clone()).collect();
            if fails(&candidate) {
                (left, *list) = (rest, candidate);
            }
        }
    }
    let mut size = list.len().div_ceil(2);
    while size > 0 && !list.is_empty() {
        // From the end: later entries are less often to blame.
        let mut end = list.len();
        while end > 0 {
            let begin = end.saturating_sub(size);
            let candidate = without(list, &|at| (begin..end).contains(&at));
            if fails(&candidate) {
                *list = candidate;
            }
            end = begin;
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
}
