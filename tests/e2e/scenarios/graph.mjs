// An agent manifest in the client: nodes that work at the same time, each with the tools of its persona.

import { Agents, answer } from '../agents.mjs';
import { gate } from '../sync.mjs';

const commit = (name) => ({ run: `echo ${name} >src/${name}.txt && git add src/${name}.txt && git commit -q -m 'Make the ${name}'` });

// Each waits until all `n` have begun.
function together(n) {
  const all = gate();
  let began = 0;
  return () => {
    if (++began === n) all.open();
    return { wait: all.wait };
  };
}

// The shipped manifest: one worker is tried again, the reviewers overlap, and one asks for a tool that its persona lacks.
async function feature(t) {
  const fixture = t.fixture();
  const workers = together(2);
  const critics = together(3);
  const worker = (name) => (task, n) => (n === 1
    ? { work: [workers(), commit(name)], ...answer(name === 'core' ? 'validation_fail' : 'success', `${name}, at first.`) }
    : { work: [commit(`${name}2`)], ...answer('success', `${name}, again.`) });
  const critic = (...work) => () => ({ work: [critics(), ...work], ...answer('success', 'Nothing is wrong.') });
  const agents = new Agents(fixture, {
    plan: () => answer('success', 'core: src/core.txt. surface: src/surface.txt.'),
    core: worker('core'),
    surface: worker('surface'),
    correctness: critic(),
    security: critic({ tool: 'WebFetch', input: { url: 'http://127.0.0.1:9/', prompt: 'Read it.' }, refused: /the persona 'critic' of 'ADR-1\/security\/1' has no tool 'WebFetch'/ }),
    design: critic(),
    integrate: () => ({ work: ['core', 'core.2', 'surface'].map((name) => ({ run: `git merge -q --no-ff dev-team/ADR-1.${name}` })),
      ...answer('success', 'Both are in.') }),
  });
  const run = await t.run(fixture, agents, '/dev-team:graph feature ADR-1');
  t.sound(run, 1);
  t.match(run.text, /^success: /, 'result for the user');
  t.equal(agents.skills.sort(), ['core', 'core', 'correctness', 'design', 'integrate', 'plan', 'security', 'surface'], 'agents');
  t.match(fixture.context(), /"core","action":"ADR-1\/core\/2"|ADR-1\.core\.2/, 'the second attempt');
}

export const graph = [
  ['graph: the shipped feature, agents at the same time, a retry, a tool that a persona lacks', feature],
];
