// What several scenarios ask of a run and of its world.

export const IMPLEMENT = '/dev-team:implement ADR-1';
export const result = (run) => run.result?.result ?? '';
export const asked = (cast) => cast.calls.map((call) => call.split(' ')[1]);
export const prefix = 'init>spec-finding spec-finding>researching researching>implementing implementing>validating';

// Types of the agents that the main conversation asked for, in order.
export function types(run) {
  return run.log.filter((entry) => !entry.agent).flatMap((entry) => entry.blocks ?? [])
    .filter((block) => block.name === 'Agent').map((block) => block.input.subagent_type.replace('dev-team:', ''));
}

export function subjects(world, branch = 'dev-team/ADR-1') {
  return world.origin('log', '--reverse', '--format=%s', `main..${branch}`).split('\n');
}

export function path(expect, world, wanted) {
  expect.equal(world.transitions().join(' '), wanted, 'states');
}

// Every event has its number, in order, and the last is the end.
export function journal(expect, world, end) {
  const events = world.events();
  expect.equal(events.map((event) => event.seq), events.map((_, i) => i + 1), 'seq');
  expect.equal(events.filter((event) => event.type === 'done').map((event) => event.result), [end], 'done events');
}
