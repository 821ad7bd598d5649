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
use tidelock_base::{Key, RangeId, Span, Timestamp, TxnId};
use tidelock_kvapi::{BatchRequest, BatchResponse, Header, KvError, RangeDescriptor, Request, Response, Sender, Snapshot, TooOld};

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

    /// Sends requests that all belong to one range, routing anew while borders move.
    async fn send_piece(&self, header: &Header, requests: SmallVec<[Request; 1]>) -> Result<BatchResponse, KvError> {
        let anchor = requests.first().ok_or(KvError::BadRequest("an empty batch"))?.span().start;
        let range = self.range_of(&anchor).await?;
        let mut header = header.clone();
        header.range = range.id;
        match self.store.send(BatchRequest { header: header.clone(), requests: requests.clone() }).await {
            Err(KvError::RangeMismatch { current }) => {
                self.cache.insert(&current);
                // The piece may belong to several ranges now.
                Box::pin(self.send_cut(&header, requests, MAX_REROUTES)).await
            }
            answer => answer,
        }
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
            let range = self.range_of(&request.span().start).await?;
            if is_cut_at_borders(&request) && !range.span.contains_span(&request.span()) {
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
            let piece = BatchRequest { header: header.clone(), requests: group.requests.clone() };
            let answer = match self.store.send(piece).await {
                Err(KvError::RangeMismatch { current }) => {
                    self.cache.insert(&current);
                    Box::pin(self.send_cut(&header, group.requests, reroutes - 1)).await?
                }
                answer => answer?,
            };
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
            let answer = Box::pin(self.send_piece(header, smallvec![piece])).await?;
            gathered.absorb(header, &answer);
            let response = answer.responses.into_iter().next();
            walk.absorb(&range.span, response.ok_or(KvError::BadRequest("an empty answer"))?)?;
        }
        Ok(walk.finish())
    }
}

#[async_trait::async_trait]
impl Sender for DistSender {
    async fn send(&self, mut batch: BatchRequest) -> Result<BatchResponse, KvError> {
        let Some(first) = batch.requests.first() else { return Ok(BatchResponse::default()) };
        let range = self.range_of(&first.span().start).await?;
        let whole = batch.requests.iter().all(|r| !is_routed_by_key(r) || range.span.contains_span(&r.span()));
        if !whole {
            return self.send_cut(&batch.header, batch.requests, MAX_REROUTES).await;
        }
        batch.header.range = range.id;
        match batch.requests.len() {
            // A lone transaction end is never re-sent: no copy is kept.
            1 if !is_routed_by_key(&batch.requests[0]) => self.store.send(batch).await,
            _ => self.send_piece(&batch.header, batch.requests).await,
        }
    }

    fn snapshot(&self) -> Snapshot {
        self.store.snapshot()
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
            Request::Scan { .. } => Response::Scan { rows: Vec::new(), resume: None, newest: Timestamp::ZERO, read_at: Timestamp::ZERO },
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
            rows.extend(more);
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

/// Requests whose span decides where they go; the others concern a whole transaction or the store.
fn is_routed_by_key(request: &Request) -> bool {
    !matches!(
        request,
        Request::EndTxn(_)
            | Request::RollbackTo { .. }
            | Request::Refresh { .. }
            | Request::Ingest { .. }
            | Request::ListIndexes
            | Request::DropIndex { .. }
            | Request::Split { .. }
            | Request::Merge { .. }
            | Request::RangeLookup { .. }
    )
}

fn is_cut_at_borders(request: &Request) -> bool {
    matches!(request, Request::Scan { .. } | Request::ResolveIntentRange { .. })
}
