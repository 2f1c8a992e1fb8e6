import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { later } from "../src/later";

test("once, when it has been quiet for a while", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  let calls = 0;
  const one = later(300, () => calls++);
  one.call();
  mock.timers.tick(200);
  one.call();
  mock.timers.tick(200);
  assert.equal(calls, 0);
  mock.timers.tick(100);
  assert.equal(calls, 1);
  one.call();
  one.dispose();
  mock.timers.tick(1000);
  assert.equal(calls, 1);
  mock.timers.reset();
});
