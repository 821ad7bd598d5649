//! Trouble: splits and merges in the middle of everything, settings that change, power cuts.

use super::Shared;
use super::client::{FILLERS, account, filler, list};
use super::node::World;
use std::sync::Arc;
use tidelock_base::Key;
use tidelock_kvserver::Number;

/// Longest rest between two troubles.
const REST_MS: u64 = 40;

/// Runs until the clients are through.
pub(crate) async fn run(world: Arc<World>, shared: Arc<Shared>) {
    while !shared.is_quiet() {
        shared.pause(REST_MS).await;
        match shared.below(10) {
            0..3 => drop(world.db.split(some_key(&shared)).await),
            3..5 => drop(world.db.merge(some_key(&shared)).await),
            5..9 => change_a_setting(&world, &shared),
            _ => {
                if let Err(story) = world.crash().await {
                    shared.complain(story);
                    return;
                }
            }
        }
    }
}

fn some_key(shared: &Shared) -> Key {
    match shared.below(3) {
        0 => list(shared.below(8) as u32),
        1 => account(shared.below(8)),
        _ => filler(shared.below(FILLERS)),
    }
}

fn change_a_setting(world: &World, shared: &Shared) {
    let settings = &world.settings;
    let (number, value) = match shared.below(9) {
        0 => return settings.set_inline(shared.one_in(2)),
        1 => return settings.set_batch_ranged(shared.one_in(2)),
        2 => (Number::InlineLimit, shared.below(6)),
        3 => (Number::PassKeys, 1 + shared.below(6)),
        4 => (Number::PassBytes, 1 + shared.below(2000)),
        5 => (Number::MaxInFlight, 1 + shared.below(4)),
        6 => (Number::Inbox, shared.below(5)),
        7 => (Number::MaxWaiters, 2 + shared.below(20)),
        // Small enough that a handful of rows spills, or large enough that nothing does.
        _ => (Number::SpillBytes, if shared.one_in(3) { 4 << 20 } else { 1024 + shared.below(6000) }),
    };
    if let Err(story) = settings.set_number(number, value) {
        shared.complain(story);
    }
}
