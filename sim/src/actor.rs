//! What a user of the kernel writes: a protocol (its types) and actors (state machines).

use std::fmt;

use crate::context::Context;
use crate::disk::{SyncFailed, SyncId};
use crate::node::NodeId;

/// The types of one simulated system.
pub trait Protocol: Sized + 'static {
    /// What nodes send each other.
    type Message: Message;
    /// What nodes keep on their disks.
    type Stored: Clone + fmt::Debug + 'static;
    /// What nodes note for the history: what a client of the system can see.
    type Note: Note;
}

/// A message between nodes. Its `Display` is shown in traces, and only there. Large payloads belong
/// behind an `Rc`: a world lives in one thread.
pub trait Message: Clone + fmt::Display + 'static {
    /// The kind, for triggers and traces, such as `Commit`.
    fn kind(&self) -> &'static str;

    /// A number that differs where the content differs; it goes into the fingerprint. It must be
    /// the same on every platform: see [`crate::digest`].
    fn digest(&self) -> u64;

    /// About how many bytes it takes on the wire, for the bound on queued bytes.
    fn size(&self) -> u32 {
        64
    }

    /// Whether it answers a request, for faults that lose replies.
    fn is_reply(&self) -> bool {
        false
    }
}

/// An observation for the history.
pub trait Note: fmt::Display + 'static {
    /// A number that differs where the content differs; it goes into the fingerprint.
    fn digest(&self) -> u64;
}

/// A state machine on a node. Events come in through these methods, effects go out through the
/// [`Context`] alone. All state of an actor is volatile; what must survive goes to the disk.
pub trait Actor<P: Protocol> {
    /// The node has started: for the first time, or again after a crash or stop.
    fn start(&mut self, context: &mut Context<'_, P>) {
        let _ = context;
    }

    /// A message has come.
    fn message(&mut self, context: &mut Context<'_, P>, from: NodeId, message: P::Message);

    /// A timer has fired; `token` is what it was set with.
    fn timer(&mut self, context: &mut Context<'_, P>, token: u64) {
        let _ = (context, token);
    }

    /// A sync has ended. Where it failed, what it covered may never become durable, even if a later
    /// sync succeeds: the sane answer is [`Context::abort`].
    fn synced(&mut self, context: &mut Context<'_, P>, sync: SyncId, result: Result<(), SyncFailed>) {
        let _ = (context, sync, result);
    }

    /// The node is about to be stopped cleanly; its disk is synced afterwards.
    fn stop(&mut self, context: &mut Context<'_, P>) {
        let _ = context;
    }
}

/// What a factory is told about the node that it builds an actor for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boot {
    /// The node.
    pub node: NodeId,
    /// How often the node has started before.
    pub incarnation: u32,
}

/// Builds a node's actor, at the first start and after each crash. What the new actor knows of
/// earlier lives is what it reads from the disk.
pub type Factory<P> = Box<dyn Fn(Boot) -> Box<dyn Actor<P>>>;
