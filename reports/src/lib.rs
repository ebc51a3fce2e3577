//! Outcomes and campaigns of Millpond for people and machines.
//!
//! | module | what it is |
//! |--------|------------|
//! | [`event`] | a campaign as a stream of events, and its readers |
//! | [`console`] | for people |
//! | [`json`] | JSON lines, and the summary without times |
//! | [`junit`] | for CI systems |
//! | [`judge`] | what a campaign came to: `PASS`, `FOUND`, `FAIL`, `EMPTY` and so on |
//! | [`failure`] | a failing run, its name, and the file that keeps it |
//! | [`mod@block`] | a failure told as text |
//! | `cause` | the plan of a failure, how sure it is, and its story as text |
//! | [`catalogue`] | how well planted bugs are found |
//! | [`describe`] | faults in words |
//! | [`group`] | failures that look alike |
//! | [`folder`] | the folder of results |
//! | [`trace`] | traces as JSON lines, for Perfetto and ShiViz, as diagrams |
//! | [`diagnostic`] | mistakes in scenario files |

pub mod block;
pub mod catalogue;
mod cause;
pub mod console;
pub mod describe;
pub mod diagnostic;
pub mod event;
pub mod failure;
pub mod folder;
pub mod group;
pub mod json;
pub mod judge;
pub mod junit;
pub mod trace;
