//! Campaigns as their readers tell them: blocks, lines, records, and what campaigns come to.

mod judging;
mod keeping;
mod made;
mod telling;
