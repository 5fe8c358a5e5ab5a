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
        let sides = if nests { 10 } else { 6 };
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
            6 => self.each(depth),
            7 => self.side_by_side(depth),
            8 => self.locked(depth),
            _ => self.chosen(depth),
        }
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
