//! The door of model APIs: requests up, judged responses down.
