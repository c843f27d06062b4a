//! The credentials for signing requests to Amazon, from the variables that Amazon's own tools read.

use callgate_dialect::{Dialect, Signing};
use callgate_proxy::AwsAccess;
use url::{Host, Url};

const KEY_ID: &str = "AWS_ACCESS_KEY_ID";
const SECRET: &str = "AWS_SECRET_ACCESS_KEY";
const SESSION: &str = "AWS_SESSION_TOKEN";
const REGION: &str = "AWS_REGION";

/// What to do if a variable is missing.
pub(crate) const HINT: &str = "`sign: aws` needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY where the gateway starts, \
     AWS_SESSION_TOKEN with temporary credentials, and AWS_REGION unless `base_url` names the region; \
     it reads no files: `aws configure export-credentials --format env` prints what to set";

/// The signer of requests to `base_url`, or every variable that is missing.
pub(crate) fn access(
    base_url: &Url,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<AwsAccess, Vec<&'static str>> {
    let (key_id, secret) = (variable(KEY_ID), variable(SECRET));
    let region = region(base_url).or_else(|| variable(REGION));
    match (key_id, secret, region) {
        (Some(key_id), Some(secret), Some(region)) => {
            Ok(AwsAccess { key_id, secret, session: variable(SESSION), region })
        }
        (key_id, secret, region) => {
            let found = [(KEY_ID, key_id), (SECRET, secret), (REGION, region)];
            let missing = found.into_iter().filter(|(_, value)| value.is_none());
            Err(missing.map(|(name, _)| name).collect())
        }
    }
}

/// What is wrong with signing for Amazon here, and what to do about it.
pub(crate) fn check(
    dialect: Option<Dialect>,
    base_url: Option<&Url>,
) -> Result<(), (&'static str, &'static str)> {
    if dialect.is_some_and(|dialect| dialect.http().signing != Signing::Amazon) {
        return Err((
            "only requests to Amazon Bedrock are signed",
            "leave it out, or set `dialect: bedrock-converse`",
        ));
    }
    let Some(url) = base_url else { return Ok(()) };
    let is_loopback = match url.host() {
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    match url.scheme() == "http" && !is_loopback {
        true => Err((
            "signed requests would go to another machine unencrypted",
            "use https in `base_url`",
        )),
        false => Ok(()),
    }
}

/// The value of a variable, if it is not empty.
pub(crate) fn variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok()?;
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

/// The region in the name of a Bedrock host: the label after the service.
fn region(base_url: &Url) -> Option<String> {
    let host = base_url.host_str()?;
    let is_amazon = [".amazonaws.com", ".amazonaws.com.cn", ".api.aws"];
    if !is_amazon.iter().any(|domain| host.ends_with(domain)) {
        return None;
    }
    let mut labels = host.split('.').skip_while(|label| !label.starts_with("bedrock-runtime"));
    labels.nth(1).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions() {
        for (url, want) in [
            ("https://bedrock-runtime.eu-central-1.amazonaws.com", Some("eu-central-1")),
            ("https://bedrock-runtime-fips.us-east-1.amazonaws.com", Some("us-east-1")),
            ("https://vpce-1.bedrock-runtime.us-west-2.vpce.amazonaws.com/", Some("us-west-2")),
            ("https://bedrock-runtime.us-east-1.example.com", None),
            ("http://127.0.0.1:8000", None),
        ] {
            assert_eq!(region(&url.parse().unwrap()).as_deref(), want, "{url}");
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let url = "http://127.0.0.1:8000".parse().unwrap();
        let set = |names: &'static [&str]| {
            move |name: &str| names.contains(&name).then(|| name.to_lowercase())
        };
        assert_eq!(access(&url, set(&[SECRET, REGION])).err(), Some(vec![KEY_ID]));
        assert_eq!(access(&url, set(&[KEY_ID, REGION])).err(), Some(vec![SECRET]));
        assert_eq!(access(&url, set(&[KEY_ID, SECRET])).err(), Some(vec![REGION]));
        assert_eq!(access(&url, set(&[])).err(), Some(vec![KEY_ID, SECRET, REGION]));
        let access = access(&url, set(&[KEY_ID, SECRET, REGION])).ok().unwrap();
        assert_eq!((access.region.as_str(), access.session), ("aws_region", None));
    }
}
