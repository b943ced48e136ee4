// Test Anything Protocol on stdout: a line for each claim, the reasons of a failure under it.

export class Tap {
  count = 0;
  failed = 0;

  report(good, name, detail = '') {
    this.count++;
    if (!good) this.failed++;
    console.log(`${good ? 'ok' : 'not ok'} ${this.count} - ${name}`);
    if (!good && detail) for (const line of String(detail).split('\n')) console.log(`#   ${line}`);
    return good;
  }

  skip(name, reason) {
    this.count++;
    console.log(`ok ${this.count} - ${name} # SKIP ${reason}`);
  }

  note(line) {
    console.log(`# ${line}`);
  }

  // Runs `claim(expect)`; one test, which holds when no expectation failed and nothing was thrown.
  async test(name, claim) {
    const wrong = [];
    const expect = (good, what) => {
      if (!good) wrong.push(typeof what === 'function' ? what() : what);
    };
    expect.equal = (got, wanted, what) => {
      const [a, b] = [JSON.stringify(got), JSON.stringify(wanted)];
      if (a !== b) wrong.push(`${what}: got ${a}, wanted ${b}`);
    };
    expect.match = (got, pattern, what) => {
      if (!pattern.test(String(got))) wrong.push(`${what}: ${JSON.stringify(got)} does not match ${pattern}`);
    };
    try {
      await claim(expect);
    } catch (fault) {
      wrong.push(fault.stack ?? String(fault));
    }
    return this.report(wrong.length === 0, name, wrong.join('\n'));
  }

  end() {
    console.log(`1..${this.count}`);
    return this.failed === 0;
  }
}
