//! The surfaces that callgate serves.

use callgate_call::Surface;

/// Where something judges calls in this version. Policies that name another surface get a warning.
pub(crate) const SERVED: [Surface; 3] = [Surface::Inbound, Surface::Response, Surface::Mcp];
