//! Requests that wait for their replies: numbered, timed, and sent again.

use millpond_sim::time::Span;
use millpond_sim::{Context, NodeId, TimerId};

use crate::message::{Message, Request, Streams};

/// A request that waits for its reply, and why it was made.
#[derive(Debug)]
pub(crate) struct Call<T> {
    number: u64,
    pub(crate) to: NodeId,
    pub(crate) request: Request,
    pub(crate) why: T,
    /// How often it was sent.
    pub(crate) sent: u32,
    timeout: Span,
    timer: TimerId,
}

/// The open requests of one client. Their numbers are the tokens of their timers; an actor's own
/// timers take tokens below [`Calls::FIRST`].
#[derive(Debug)]
pub(crate) struct Calls<T> {
    next: u64,
    open: Vec<Call<T>>,
}

impl<T> Calls<T> {
    /// The least number of a request.
    pub(crate) const FIRST: u64 = 1 << 32;

    /// No open request, in this life of the node: replies to earlier lives match no number.
    pub(crate) fn new(incarnation: u32) -> Self {
        Self { next: Self::FIRST | u64::from(incarnation) << 40, open: Vec::new() }
    }

    /// Sends a request.
    pub(crate) fn send(
        &mut self,
        context: &mut Context<'_, Streams>,
        to: NodeId,
        request: Request,
        timeout: Span,
        why: T,
    ) {
        let number = self.next;
        self.next += 1;
        context.send(to, Message::Request(number, request.clone()));
        let timer = context.set_timer(timeout, number);
        self.open.push(Call { number, to, request, why, sent: 1, timeout, timer });
    }

    /// Takes the request that a reply answers; none where it was answered or given up before.
    pub(crate) fn settle(&mut self, context: &mut Context<'_, Streams>, number: u64) -> Option<Call<T>> {
        let at = self.open.iter().position(|call| call.number == number)?;
        let call = self.open.swap_remove(at);
        context.cancel_timer(call.timer);
        Some(call)
    }

    /// The request whose timer this is.
    pub(crate) fn timed_out(&mut self, token: u64) -> Option<&mut Call<T>> {
        self.open.iter_mut().find(|call| call.number == token)
    }

    /// Sends a request again whose timer has fired.
    pub(crate) fn retry(&mut self, context: &mut Context<'_, Streams>, token: u64) {
        if let Some(call) = self.open.iter_mut().find(|call| call.number == token) {
            context.send(call.to, Message::Request(call.number, call.request.clone()));
            call.timer = context.set_timer(call.timeout, call.number);
            call.sent += 1;
        }
    }

    /// Gives up the requests made for such a reason.
    pub(crate) fn drop_where(
        &mut self,
        context: &mut Context<'_, Streams>,
        mut matches: impl FnMut(&T) -> bool,
    ) {
        self.open.retain(|call| {
            let gone = matches(&call.why);
            if gone {
                context.cancel_timer(call.timer);
            }
            !gone
        });
    }

    /// How many requests are open.
    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    /// The open requests.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Call<T>> {
        self.open.iter()
    }
}
