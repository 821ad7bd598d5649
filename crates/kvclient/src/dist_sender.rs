//! Routing: cuts a batch at range borders and sends each piece to its range.
//!
//! ```text
//!   Put a1  Put b1  Put a2  Scan [a5,b5)
//!      \______|______/         |    |          one piece per range, each keeping its requests' order;
//!             |                a    b          a spanning scan is walked range by range
//! ```
//!
//! The pieces of a statement go out one after another: on one store that is also the cheapest order, and it keeps the
//! order of lock requests the same for everybody who runs the same statement. The whole-transaction requests (`EndTxn`,
//! `RollbackTo`, `Refresh`) go uncut to the range of their anchor.
//!
//! A range that changed meanwhile answers `RangeMismatch` before evaluating anything; the piece is routed anew.

use crate::metrics::ClientMetrics;
use crate::range_cache::RangeCache;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;
use tidelock_base::{Key, RangeId, RowPage, Span, Timestamp, TxnId};
use tidelock_kvapi::{
    BatchRequest, BatchResponse, Header, KvError, Misrouted, RangeDescriptor, Request, Response, Sender, Sent, Snapshot, TooOld,
};

/// Times one piece is routed anew before the sender gives up: borders do not change faster than that.
const MAX_REROUTES: usize = 64;

/// A [`Sender`] over ranges, in front of the store that holds them.
pub struct DistSender {
    store: Arc<dyn Sender>,
    cache: RangeCache,
    metrics: Arc<ClientMetrics>,
}

impl DistSender {
    /// Routes to `store`.
    pub fn new(store: Arc<dyn Sender>, metrics: Arc<ClientMetrics>) -> DistSender {
        DistSender { store, cache: RangeCache::default(), metrics }
    }

    async fn range_of(&self, key: &Key) -> Result<Arc<RangeDescriptor>, KvError> {
        if let Some(range) = self.cache.lookup(key) {
            return Ok(range);
        }
        ClientMetrics::bump(&self.metrics.range_lookups);
        let lookup = BatchRequest::read_at(Timestamp::MAX).with(Request::RangeLookup { span: Span::point(key.clone()) });
        let answer = self.store.send(lookup).await?;
        if let Some(Response::Ranges(ranges)) = answer.responses.first() {
            self.cache.insert(ranges);
        }
        self.cache.lookup(key).ok_or(KvError::BadRequest("no range holds the key"))
    }

    /// Sends a piece to the range it should belong to; when that has other borders by now, the piece is cut anew.
    async fn send_piece(&self, header: &Header, requests: SmallVec<[Request; 1]>, reroutes: usize) -> Result<BatchResponse, KvError> {
        match self.store.send(BatchRequest { header: header.clone(), requests }) {
            Sent::Misrouted(misrouted) => Box::pin(self.send_anew(misrouted, reroutes)).await,
            sent => sent.await,
        }
    }

    /// The piece may belong to several ranges now.
    async fn send_anew(&self, misrouted: Box<Misrouted>, reroutes: usize) -> Result<BatchResponse, KvError> {
        self.cache.insert(&misrouted.current);
        self.send_cut(&misrouted.batch.header, misrouted.batch.requests, reroutes.saturating_sub(1)).await
    }

    /// The slow path: groups requests by range, walks spanning ones.
    async fn send_cut(&self, header: &Header, requests: SmallVec<[Request; 1]>, reroutes: usize) -> Result<BatchResponse, KvError> {
        if reroutes == 0 {
            return Err(KvError::BadRequest("range borders keep moving"));
        }
        ClientMetrics::bump(&self.metrics.batches_split);
        let mut answers: Vec<Option<Response>> = vec![None; requests.len()];
        let mut header = header.clone();
        let mut gathered = Gathered::default();
        let mut groups: Vec<Group> = Vec::new();
        for (position, request) in requests.into_iter().enumerate() {
            let anchor = request.routing_key().cloned().unwrap_or_else(|| request.span().start);
            let range = self.range_of(&anchor).await?;
            if !request.fits(&range.span) {
                let response = self.walk(&mut header, request, &mut gathered).await?;
                answers[position] = Some(response);
                continue;
            }
            match groups.iter_mut().find(|group| group.range == range.id) {
                Some(group) => group.add(position, request),
                None => groups.push(Group::new(range.id, position, request)),
            }
        }
        for group in groups {
            header.range = group.range;
            let answer = self.send_piece(&header, group.requests, reroutes).await?;
            gathered.absorb(&mut header, &answer);
            for (position, response) in group.positions.into_iter().zip(answer.responses) {
                answers[position] = Some(response);
            }
        }
        let responses = answers.into_iter().map(|a| a.ok_or(KvError::BadRequest("a request was not answered")));
        let responses = responses.collect::<Result<_, _>>()?;
        Ok(BatchResponse { responses, too_old: gathered.too_old, anchored: gathered.anchored })
    }

    /// Walks a spanning request range by range, in its own direction, until its limit.
    async fn walk(&self, header: &mut Header, request: Request, gathered: &mut Gathered) -> Result<Response, KvError> {
        let mut walk = Walk::new(request)?;
        // An exhausted budget still visits one range, whose answer says what is left.
        while let Some(probe) = walk.next_key() {
            let range = self.range_of(&probe).await?;
            let piece = walk.piece(&range.span);
            header.range = range.id;
            let answer = Box::pin(self.send_piece(header, smallvec![piece], MAX_REROUTES)).await?;
            gathered.absorb(header, &answer);
            let response = answer.responses.into_iter().next();
            walk.absorb(&range.span, response.ok_or(KvError::BadRequest("an empty answer"))?)?;
        }
        Ok(walk.finish())
    }
}

impl Sender for DistSender {
    fn send(&self, mut batch: BatchRequest) -> Sent<'_> {
        let Some(first) = batch.requests.first() else { return Sent::now(Ok(BatchResponse::default())) };
        let whole = match first.routing_key() {
            // A lone transaction end, or administration: no range is asked whether it holds it.
            None => (batch.requests.len() == 1).then_some(RangeId(0)),
            Some(key) => self.cache.find(key, |range| batch.requests.iter().all(|r| r.fits(&range.span)).then_some(range.id)).flatten(),
        };
        let Some(range) = whole else {
            return Sent::later(async move { self.send_cut(&batch.header, batch.requests, MAX_REROUTES).await });
        };
        batch.header.range = range;
        match self.store.send(batch) {
            Sent::Misrouted(misrouted) => Sent::later(self.send_anew(misrouted, MAX_REROUTES)),
            sent => sent,
        }
    }

    fn snapshot(&self) -> Snapshot {
        self.store.snapshot()
    }

    fn snapshot_at(&self, ts: Timestamp) -> Snapshot {
        self.store.snapshot_at(ts)
    }

    fn newest(&self) -> Timestamp {
        self.store.newest()
    }

    fn next_txn_id(&self) -> TxnId {
        self.store.next_txn_id()
    }
}

/// The requests of one range, with their places in the batch.
struct Group {
    range: RangeId,
    positions: Vec<usize>,
    requests: SmallVec<[Request; 1]>,
}

impl Group {
    fn new(range: RangeId, position: usize, request: Request) -> Group {
        Group { range, positions: vec![position], requests: smallvec![request] }
    }

    fn add(&mut self, position: usize, request: Request) {
        self.positions.push(position);
        self.requests.push(request);
    }
}

/// A spanning request under way: what is left of its span, what has been answered.
struct Walk {
    request: Request,
    left: Option<Span>,
    reverse: bool,
    answer: Option<Response>,
}

impl Walk {
    fn new(request: Request) -> Result<Walk, KvError> {
        let (left, reverse) = match &request {
            Request::Scan { span, reverse, .. } => (span.clone(), *reverse),
            Request::ResolveIntentRange { span, .. } => (span.clone(), false),
            _ => return Err(KvError::BadRequest("only spans are walked")),
        };
        Ok(Walk { request, left: Some(left).filter(|span| !span.is_empty()), reverse, answer: None })
    }

    /// A key of the next range to visit; `None` at the end.
    fn next_key(&self) -> Option<Key> {
        let left = self.left.as_ref()?;
        Some(if self.reverse { just_before(&left.end) } else { left.start.clone() })
    }

    /// The request, narrowed to a range.
    fn piece(&self, range: &Span) -> Request {
        let mut piece = self.request.clone();
        let part = self.left.as_ref().and_then(|left| left.intersect(range));
        match &mut piece {
            Request::Scan { span, limit, .. } => {
                *limit = limit.less(self.rows_so_far());
                *span = part.unwrap_or_else(|| span.clone());
            }
            Request::ResolveIntentRange { span, .. } => {
                *span = part.unwrap_or_else(|| span.clone());
            }
            _ => {}
        }
        piece
    }

    fn rows_so_far(&self) -> u64 {
        match &self.answer {
            Some(Response::Scan { rows, .. }) => rows.len() as u64,
            _ => 0,
        }
    }

    /// Adds a range's answer; stops when that range stopped short.
    fn absorb(&mut self, range: &Span, response: Response) -> Result<(), KvError> {
        let rest = self.left.take().map(|left| self.beyond(left, range)).filter(|span| !span.is_empty());
        let stopped = match &response {
            Response::Scan { resume, .. } | Response::Resolved { resume, .. } => resume.clone(),
            _ => return Err(KvError::BadRequest("a span wants a span's answer")),
        };
        self.answer = Some(match self.answer.take() {
            None => response,
            Some(before) => combine(before, response)?,
        });
        match stopped {
            Some(resume) => self.set_resume(self.join(resume, rest)),
            None if self.exhausted() => self.set_resume(rest),
            None => self.left = rest,
        }
        Ok(())
    }

    fn exhausted(&self) -> bool {
        match &self.request {
            Request::Scan { limit, .. } => limit.less(self.rows_so_far()).is_exhausted(),
            // The range that used the budget up says so with a span to resume with.
            Request::ResolveIntentRange { .. } => false,
            _ => true,
        }
    }

    /// What lies beyond a range in walking direction.
    fn beyond(&self, left: Span, range: &Span) -> Span {
        if self.reverse {
            Span::new(left.start, range.start.clone().min(left.end))
        } else {
            Span::new(range.end.clone().max(left.start), left.end)
        }
    }

    fn join(&self, resume: Span, rest: Option<Span>) -> Option<Span> {
        Some(match rest {
            None => resume,
            Some(rest) if self.reverse => Span::new(rest.start, resume.end),
            Some(rest) => Span::new(resume.start, rest.end),
        })
    }

    fn set_resume(&mut self, span: Option<Span>) {
        if let Some(Response::Scan { resume, .. } | Response::Resolved { resume, .. }) = &mut self.answer {
            *resume = span;
        }
    }

    fn finish(self) -> Response {
        self.answer.unwrap_or(match self.request {
            Request::Scan { .. } => {
                Response::Scan { rows: RowPage::default(), resume: None, newest: Timestamp::ZERO, read_at: Timestamp::ZERO }
            }
            _ => Response::Resolved { resolved: 0, bytes: 0, resume: None },
        })
    }
}

/// A key below `end` with no range border between: ends are exclusive, and the largest key below has no finite spelling,
/// so a long run of 0xff stands for it.
fn just_before(end: &Key) -> Key {
    let mut key = end.clone();
    match key.last().copied() {
        Some(0) => key.truncate(key.len() - 1),
        Some(last) => {
            let at = key.len() - 1;
            key.bytes_mut()[at] = last - 1;
            key.extend(&[0xff; 32]);
        }
        None => {}
    }
    key
}

fn combine(before: Response, after: Response) -> Result<Response, KvError> {
    match (before, after) {
        (
            Response::Scan { mut rows, newest, read_at, .. },
            Response::Scan { rows: more, resume, newest: newest_after, read_at: read_after },
        ) => {
            rows.append(&more);
            // The earliest moment at which all parts were seen is what the whole may claim.
            let read_at = read_at.min(read_after);
            Ok(Response::Scan { rows, resume, newest: newest.max(newest_after), read_at })
        }
        (Response::Resolved { resolved, bytes, .. }, Response::Resolved { resolved: more, bytes: more_bytes, resume }) => {
            Ok(Response::Resolved { resolved: resolved + more, bytes: bytes + more_bytes, resume })
        }
        _ => Err(KvError::BadRequest("answers of two kinds cannot be combined")),
    }
}

/// What the pieces of a batch said besides their answers.
#[derive(Default)]
struct Gathered {
    too_old: Option<TooOld>,
    anchored: bool,
}

impl Gathered {
    /// Takes a piece's answer in; what its resolve requests did is no longer in the budget of the next piece.
    fn absorb(&mut self, header: &mut Header, answer: &BatchResponse) {
        if let Some(too_old) = &answer.too_old
            && self.too_old.as_ref().is_none_or(|known| known.newer < too_old.newer)
        {
            self.too_old = Some(too_old.clone());
        }
        self.anchored |= answer.anchored;
        if let Some(pass) = &mut header.pass {
            for response in &answer.responses {
                if let Response::Resolved { resolved, bytes, .. } = response {
                    *pass = pass.less(*resolved, *bytes);
                }
            }
        }
    }
}
