//! What requests to Amazon are signed with: the variables that Amazon's own tools read.

use callgate_proxy::AwsAccess;
use url::Url;

const KEY_ID: &str = "AWS_ACCESS_KEY_ID";
const SECRET: &str = "AWS_SECRET_ACCESS_KEY";
const SESSION: &str = "AWS_SESSION_TOKEN";
const REGION: &str = "AWS_REGION";

/// What signs requests to `base_url`, or the variable that is missing.
pub(crate) fn access(
    base_url: &Url,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<AwsAccess, &'static str> {
    Ok(AwsAccess {
        key_id: variable(KEY_ID).ok_or(KEY_ID)?,
        secret: variable(SECRET).ok_or(SECRET)?,
        session: variable(SESSION),
        region: region(base_url).or_else(|| variable(REGION)).ok_or(REGION)?,
    })
}

/// A variable that says something.
pub(crate) fn variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok()?;
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

/// The region in the name of a Bedrock host: it stands behind that of the service.
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
        assert_eq!(access(&url, set(&[SECRET])).err(), Some(KEY_ID));
        assert_eq!(access(&url, set(&[KEY_ID])).err(), Some(SECRET));
        assert_eq!(access(&url, set(&[KEY_ID, SECRET])).err(), Some(REGION));
        let access = access(&url, set(&[KEY_ID, SECRET, REGION])).ok().unwrap();
        assert_eq!((access.region.as_str(), access.session), ("aws_region", None));
    }
}
