// The page in a real browser, against the real binary and destinations that count.
//
// One server and one browser for all; every test has a page of its own, and whatever that page complained of,
// or asked of any other machine, fails it.

import { after, before, describe } from "node:test";
import { openAll } from "./support/all.mjs";
import decide from "./decide.mjs";
import edit from "./edit.mjs";
import enter from "./enter.mjs";
import follow from "./follow.mjs";
import hostile from "./hostile.mjs";
import keyboard from "./keyboard.mjs";
import narrow from "./narrow.mjs";
import restart from "./restart.mjs";
import trigger from "./trigger.mjs";

describe("the page", { concurrency: false }, () => {
  const all = {};
  before(async () => Object.assign(all, await openAll()));
  after(() => all.close?.());
  for (const of of [enter, follow, decide, trigger, edit, hostile, keyboard, narrow, restart]) of(all);
});
