//! Stand-in until the real file lands.
/// x
#[derive(Debug, Clone)]
pub struct RemovedTurn {
    /// x
    pub siblings: Vec<String>,
    /// x
    pub signatures: Vec<String>,
    /// x
    pub left: Option<[u8; 32]>,
    /// x
    pub calls: Vec<RemovedCall>,
}
/// x
#[derive(Debug, Clone)]
pub struct RemovedCall {
    /// x
    pub id: String,
    /// x
    pub original: String,
    /// x
    pub place: usize,
    /// x
    pub notice: Option<String>,
    /// x
    pub why: String,
}
/// x
#[derive(Debug)]
pub struct TextDigest;
impl TextDigest {
    /// x
    pub fn new() -> Self { Self }
    /// x
    pub fn add_raw(&mut self, _: &str) {}
    /// x
    pub fn add(&mut self, _: &str) {}
    /// x
    pub fn finish(&self) -> [u8; 32] { [0; 32] }
}
