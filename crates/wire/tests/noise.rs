//! Damaged messages: whatever arrives, the server answers with the protocol or closes, never panics, and goes on serving.

mod bed;

use bed::Bed;
use bed::message;
use bed::raw::Raw;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// A small generator with a fixed seed, so that a failure can be repeated.
struct Noise(u64);

impl Noise {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below.max(1)
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.next(items.len())].clone()
    }

    fn message(&mut self) -> Vec<u8> {
        let statements: [&str; 13] = [
            "select $1::int4 + 1",
            "select $1, $2::text",
            "begin",
            "commit",
            "rollback",
            "selekt",
            "",
            "select 1/0",
            "select generate_series(1, 10)",
            "insert into noise values ($1) returning *",
            "select * from noise where id = $1",
            "savepoint s",
            "set datestyle = 'German'",
        ];
        let names = ["", "a", "b"];
        match self.next(12) {
            0 | 1 => message::query(self.pick(&statements)),
            2 | 3 => message::parse(self.pick(&names), self.pick(&statements), &[23, 0, 25, 99_999][..self.next(5)]),
            4 | 5 => {
                let params: Vec<_> = (0..self.next(3)).map(|_| self.pick(&[None, Some(b"7".to_vec()), Some(vec![0, 0, 0, 7])])).collect();
                let formats = [0, 1, 1][..self.next(4)].to_vec();
                message::bind(self.pick(&names), self.pick(&names), &formats, &params, &[1, 0][..self.next(3)])
            }
            6 => message::target(b'D', self.pick(&['S', 'P']), self.pick(&names)),
            7 => message::target(b'C', self.pick(&['S', 'P']), self.pick(&names)),
            8 => message::execute(self.pick(&names), self.pick(&[0, 1, 3, -1, i32::MAX])),
            9 => message::frame(b'H', b""),
            10 => message::frame(self.pick(b"dcf"), b"some\0"),
            _ => message::sync(),
        }
    }

    /// Bytes changed, added or lost inside the body; the length word follows, or not.
    fn damage(&mut self, bytes: &mut Vec<u8>) {
        match self.next(4) {
            0 => {
                let at = self.next(bytes.len());
                bytes[at] = self.next(256) as u8;
            }
            1 => {
                let kept = 5 + self.next(bytes.len() - 4);
                bytes.truncate(kept);
                let length = (bytes.len() as u32 - 1).to_be_bytes();
                bytes[1..5].copy_from_slice(&length);
            }
            2 => {
                let at = 5 + self.next(bytes.len() - 4);
                bytes.insert(at.min(bytes.len()), self.next(256) as u8);
                let length = (bytes.len() as u32 - 1).to_be_bytes();
                bytes[1..5].copy_from_slice(&length);
            }
            _ => {
                let at = 1 + self.next(4);
                bytes[at] = self.next(256) as u8;
            }
        }
    }
}

#[test]
fn noise_never_harms_the_server() {
    let bed = Bed::start();
    bed.connect().run("create table noise (id int primary key)");
    let mut noise = Noise(0x7464_6c6b_2026_1130);
    for round in 0..300 {
        let mut raw = bed.connect();
        for _ in 0..1 + noise.next(12) {
            let mut bytes = noise.message();
            if noise.next(4) == 0 {
                noise.damage(&mut bytes);
            }
            raw.send(&bytes);
        }
        raw.send(&message::sync());
        while let Some(answer) = raw.next(Duration::from_millis(5)) {
            assert!(answer.kind.is_ascii_alphanumeric(), "round {round}: {answer:?}");
        }
        assert_eq!(bed.metrics.panics.load(Relaxed), 0, "round {round}");
    }
    assert_eq!(bed.connect().run("select 1"), ["SELECT 1"]);
}

#[test]
fn noise_instead_of_a_startup_packet() {
    let bed = Bed::start();
    let mut noise = Noise(42);
    for _ in 0..200 {
        let mut raw = Raw::open(bed.address);
        let mut bytes = message::startup(&[("user", "postgres"), ("options", "-c a=b"), ("x", "")]);
        for _ in 0..1 + noise.next(4) {
            let at = noise.next(bytes.len());
            bytes[at] = noise.next(256) as u8;
        }
        raw.send(&bytes);
        raw.until_quiet(Duration::from_millis(3));
    }
    assert_eq!(bed.metrics.panics.load(Relaxed), 0);
    bed.connect();
}

#[test]
fn as_many_parameters_as_the_protocol_can_count() {
    let bed = Bed::start();
    let mut raw = bed.connect();
    let list: Vec<String> = (1..=65_535).map(|n| format!("${n}::int4")).collect();
    raw.send(&message::parse("", &format!("select 65535 in ({})", list.join(",")), &[]));
    let params: Vec<_> = (1..=65_535).map(|n: u32| Some(n.to_string().into_bytes())).collect();
    raw.send(&message::bind("", "", &[], &params, &[]));
    raw.send(&message::execute("", 0));
    raw.send(&message::sync());
    let answer = raw.until_ready(1);
    let row = answer.iter().find(|m| m.kind == b'D').unwrap_or_else(|| panic!("{answer:?}"));
    assert_eq!(row.values(), [Some(b"t".to_vec())]);
}

#[test]
fn a_hundred_thousand_pipelined_messages() {
    let bed = Bed::start();
    let mut raw = bed.connect();
    let mut bytes = message::parse("s", "select $1::int4", &[]);
    for n in 0..20_000 {
        bytes.extend(message::bind("", "s", &[], &[Some(n.to_string().into_bytes())], &[]));
        bytes.extend(message::execute("", 0));
        if n % 1000 == 999 {
            bytes.extend(message::sync());
        }
    }
    let mut writer = raw.socket.try_clone().expect("a second handle");
    let sender = std::thread::spawn(move || std::io::Write::write_all(&mut writer, &bytes));
    let answer = raw.until_ready(20);
    sender.join().expect("joins").expect("sent");
    let values: Vec<_> = answer.iter().filter(|m| m.kind == b'D').map(|m| m.values()).collect();
    assert_eq!(values.len(), 20_000);
    assert_eq!(values[19_999], [Some(b"19999".to_vec())]);
}
