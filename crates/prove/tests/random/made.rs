//! Flows made up from a number: always right, never the same.

use std::fmt::Write as _;

/// A source of choices.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        // splitmix64: enough for choices.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }
}

/// The flow of that number.
pub(crate) fn flow(seed: u64) -> String {
    let mut maker = Maker {
        dice: Dice(seed),
        text: String::new(),
        steps: 0,
    };
    maker.text = format!("name: made-{seed}\non: manual\nkey: made/${{{{ event.id }}}}\nsteps:\n");
    let count = 1 + maker.dice.roll(4);
    for _ in 0..count {
        maker.step(1, true);
    }
    if maker.dice.roll(3) == 0 {
        maker.line(1, "- {id: end, fail: it goes back}");
    }
    maker.text
}

struct Maker {
    dice: Dice,
    text: String,
    steps: usize,
}

impl Maker {
    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "  ".repeat(depth));
    }

    /// One step; one with steps inside only where `nests`.
    fn step(&mut self, depth: usize, nests: bool) {
        self.steps += 1;
        let id = format!("s{}", self.steps);
        self.line(depth, &format!("- id: {id}"));
        let sides = if nests { 16 } else { 12 };
        match self.dice.roll(sides) {
            0 => self.line(depth + 1, "http: {get: 'https://a.example/x'}"),
            1 => self.line(
                depth + 1,
                &format!("http: {{put: 'https://a.example/{id}'}}"),
            ),
            2 => self.line(
                depth + 1,
                &format!("http: {{post: 'https://a.example/{id}'}}"),
            ),
            3 => self.keyed(depth, &id),
            4 => self.looked_up(depth, &id),
            5 => self.ensured(depth, &id),
            6 => self.value(depth, &id),
            7 => self.taken_back(depth, &id),
            8 => self.sql(depth, &id),
            9 => self.message(depth, &id),
            10 => self.program(depth, &id),
            11 => self.rest(depth),
            12 => self.each(depth),
            13 => self.side_by_side(depth),
            14 => self.locked(depth),
            _ => self.chosen(depth),
        }
    }

    /// A value in our own store, sometimes with what takes it back.
    fn value(&mut self, depth: usize, id: &str) {
        let (does, undoes) = match self.dice.roll(4) {
            0 => (
                format!("add: 'count/{id}', by: 1"),
                format!("add: 'count/{id}', by: -1"),
            ),
            1 => (
                format!("set_if_absent: 'first/{id}', to: '${{{{ event.id }}}}'"),
                format!("delete: 'first/{id}'"),
            ),
            2 => (
                format!("swap: 'state/{id}', from: null, to: open"),
                format!("swap: 'state/{id}', from: open, to: null"),
            ),
            _ => (
                format!("set: 'last/{id}', to: '${{{{ event.id }}}}'"),
                format!("delete: 'last/{id}'"),
            ),
        };
        self.line(depth + 1, &format!("kv: {{{does}}}"));
        if self.dice.roll(2) == 0 {
            self.line(depth + 1, &format!("undo: {{kv: {{{undoes}}}}}"));
        }
    }

    fn sql(&mut self, depth: usize, id: &str) {
        let sql = match self.dice.roll(4) {
            0 => "query: 'SELECT 1'".to_owned(),
            1 => format!("run: 'UPDATE {id} SET n = n + 1'"),
            2 => format!("run: 'UPDATE {id} SET n = n + 1', receipt: true"),
            _ => {
                format!("upsert: {{into: {id}, on: {{id: '${{{{ event.id }}}}'}}, set: {{n: 1}}}}")
            }
        };
        self.line(depth + 1, &format!("sql: {{on: shop, {sql}}}"));
    }

    /// Something that somebody reads, or a model.
    fn message(&mut self, depth: usize, id: &str) {
        match self.dice.roll(3) {
            0 => self.line(
                depth + 1,
                &format!("email: {{to: a@example.com, subject: {id}, text: hi}}"),
            ),
            1 => self.line(
                depth + 1,
                &format!("notify: {{slack: '${{{{ secrets.SLACK }}}}', text: {id}}}"),
            ),
            _ => {
                self.line(depth + 1, &format!("ai: {{model: small, prompt: {id}}}"));
                // By itself it would be asked again: it is only paid for.
                self.line(depth + 1, "on_unknown: ask");
            }
        }
    }

    /// Here or on another machine.
    fn program(&mut self, depth: usize, id: &str) {
        match self.dice.roll(3) {
            0 => self.line(depth + 1, &format!("exec: {{command: [/bin/tell, {id}]}}")),
            1 => self.line(
                depth + 1,
                &format!("ssh: {{host: h.example, user: jobs, command: [/bin/tell, {id}]}}"),
            ),
            _ => self.line(
                depth + 1,
                &format!(
                    "ssh: {{host: h.example, user: jobs, command: [/bin/tell, {id}], detach: true}}"
                ),
            ),
        }
    }

    fn rest(&mut self, depth: usize) {
        let seconds = 1 + self.dice.roll(100_000);
        self.line(depth + 1, &format!("wait: {{for: {seconds}s}}"));
    }

    fn keyed(&mut self, depth: usize, id: &str) {
        self.line(depth + 1, "http:");
        self.line(depth + 2, &format!("post: https://k.example/{id}"));
        self.line(
            depth + 2,
            "idempotency: {header: Idempotency-Key, window: 24h}",
        );
    }

    fn looked_up(&mut self, depth: usize, id: &str) {
        self.line(
            depth + 1,
            &format!("http: {{post: 'https://l.example/{id}'}}"),
        );
        self.line(
            depth + 1,
            "lookup: {http: {get: 'https://l.example/by'}, found: status == 200}",
        );
    }

    fn ensured(&mut self, depth: usize, id: &str) {
        self.line(depth + 1, "ensure:");
        self.line(depth + 2, "find: {http: {get: 'https://e.example/c'}, found: size(body.items) > 0, result: 'body.items[0].id'}");
        self.line(
            depth + 2,
            &format!("create: {{http: {{post: 'https://e.example/{id}'}}, result: body.id}}"),
        );
    }

    fn taken_back(&mut self, depth: usize, id: &str) {
        self.line(
            depth + 1,
            &format!("http: {{post: 'https://u.example/{id}'}}"),
        );
        let undo = "undo: {http: {post: 'https://u.example/back'}}";
        self.line(depth + 1, undo);
    }

    fn inside(&mut self, depth: usize) {
        for _ in 0..=self.dice.roll(2) {
            self.step(depth, false);
        }
    }

    fn each(&mut self, depth: usize) {
        let name = format!("item{}", self.steps);
        self.line(depth + 1, &format!("for_each: event.list{}", self.steps));
        self.line(depth + 1, &format!("as: {name}"));
        self.line(depth + 1, &format!("key: ${{{{ {name}.id }}}}"));
        self.line(depth + 1, "steps:");
        self.inside(depth + 2);
    }

    fn side_by_side(&mut self, depth: usize) {
        self.line(depth + 1, "parallel:");
        for name in ["one", "other"] {
            self.line(depth + 2, &format!("{name}:"));
            self.inside(depth + 3);
        }
    }

    fn locked(&mut self, depth: usize) {
        self.line(depth + 1, "lock:");
        self.line(depth + 2, "name: till/${{ event.id }}");
        self.line(depth + 2, "steps:");
        self.inside(depth + 3);
    }

    fn chosen(&mut self, depth: usize) {
        self.line(depth + 1, "switch:");
        self.line(depth + 2, "- if: event.kind == \"a\"");
        self.line(depth + 2, "  steps:");
        self.inside(depth + 4);
    }
}
