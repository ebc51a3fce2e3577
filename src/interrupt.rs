//! Ctrl-C and SIGTERM. The first one asks the campaign to end: what runs is finished, everything is
//! written. The second one ends the process at once.

use std::sync::atomic::{AtomicU8, Ordering};

use millpond::exit::Exit;

/// The exit code of the signal that came; 0: none.
static CAME: AtomicU8 = AtomicU8::new(0);

/// Begins to listen. To be called before threads are started: they inherit what is blocked here.
pub(crate) fn listen() {
    #[cfg(unix)]
    listen_for_sigterm();
    if let Err(error) = ctrlc::set_handler(|| came(Exit::Interrupted)) {
        tracing::warn!("Ctrl-C will end the campaign without writing its results: {error}");
    }
}

/// How to end, if a signal has asked for it.
pub(crate) fn asked() -> Option<Exit> {
    let code = CAME.load(Ordering::Relaxed);
    [Exit::Interrupted, Exit::Terminated].into_iter().find(|exit| exit.code() == code)
}

fn came(exit: Exit) {
    if CAME.swap(exit.code(), Ordering::Relaxed) != 0 {
        std::process::exit(i32::from(exit.code()));
    }
}

/// ctrlc tells no signal from another, so that SIGTERM is waited for by a thread of its own.
#[cfg(unix)]
fn listen_for_sigterm() {
    use nix::sys::signal::{SigSet, Signal};

    let signals = SigSet::from(Signal::SIGTERM);
    if signals.thread_block().is_err() {
        return;
    }
    let wait = move || {
        while signals.wait().is_ok() {
            came(Exit::Terminated);
        }
    };
    let _ = std::thread::Builder::new().name("sigterm".to_owned()).spawn(wait);
}
