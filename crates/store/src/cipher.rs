//! Encryption of removed calls, and the file with its key.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

use crate::error::{OpenError, StoreError};
use crate::place::{StorePlace, companion, give_to_owner};

/// AES-256-GCM with a random nonce for each entry, bound to the owner of the entry.
pub(crate) struct Cipher(LessSafeKey);

impl std::fmt::Debug for Cipher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Cipher(…)")
    }
}

impl Cipher {
    /// The cipher of a store. Its key file is next to the store, and is created if it does not
    /// exist. The key of a store in memory is in memory.
    pub(crate) fn of(place: &StorePlace) -> Result<Self, OpenError> {
        let path = match place {
            StorePlace::File(store) => companion(store, ".key"),
            StorePlace::Memory(_) => place.path().to_owned(),
        };
        let broken = |why: String| OpenError::KeyFile { path: path.clone(), why };
        let key = match place {
            StorePlace::Memory(_) => random_key().map_err(|error| broken(error.to_string()))?,
            StorePlace::File(_) => file_key(&path).map_err(broken)?,
        };
        Self::new(&key).ok_or_else(|| broken("does not contain a key".to_owned()))
    }

    fn new(key: &[u8; 32]) -> Option<Self> {
        UnboundKey::new(&AES_256_GCM, key).ok().map(|key| Self(LessSafeKey::new(key)))
    }

    /// Encrypts in place and returns the nonce.
    pub(crate) fn seal(
        &self,
        binding: &[u8; 32],
        content: &mut Vec<u8>,
    ) -> Result<[u8; 12], StoreError> {
        let mut nonce = [0; 12];
        getrandom::fill(&mut nonce).map_err(|error| StoreError::Failed(error.to_string()))?;
        self.0
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(binding),
                content,
            )
            .map_err(|_| StoreError::Failed("a removed call could not be encrypted".to_owned()))?;
        Ok(nonce)
    }

    /// Decrypts an entry that was sealed with this binding.
    pub(crate) fn open(
        &self,
        binding: &[u8; 32],
        nonce: [u8; 12],
        mut content: Vec<u8>,
    ) -> Result<Vec<u8>, StoreError> {
        let nonce = Nonce::assume_unique_for_key(nonce);
        let plain = self
            .0
            .open_in_place(nonce, Aad::from(binding), &mut content)
            .map_err(|_| StoreError::Decrypt)?
            .len();
        content.truncate(plain);
        Ok(content)
    }
}

fn random_key() -> io::Result<[u8; 32]> {
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(io::Error::other)?;
    Ok(key)
}

/// Reads the key file, or creates it. The error text continues the sentence "the key file `…`".
fn file_key(path: &Path) -> Result<[u8; 32], String> {
    if !path.exists() {
        make(path).map_err(|error| format!("cannot be created: {error}"))?;
    }
    let bytes = fs::read(path).map_err(|error| format!("cannot be read: {error}"))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let mode = fs::metadata(path).map_err(|error| format!("cannot be read: {error}"))?.mode();
        if mode & 0o007 != 0 {
            return Err(format!(
                "can be read by every user of this machine (mode {:o})\nhint: chmod 600 {}",
                mode & 0o777,
                path.display()
            ));
        }
    }
    bytes.try_into().map_err(|bytes: Vec<u8>| {
        format!(
            "should contain 32 bytes and contains {}\nhint: remove it and a new one is made; calls \
             removed from earlier turns are then not put back",
            bytes.len()
        )
    })
}

/// Creates the key file completely or not at all, and only if no other process has created it
/// first.
fn make(path: &Path) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    // A unique name: two threads may get here at once, and a killed process may have left its
    // draft.
    name.push(format!(".{}.new", uuid::Uuid::now_v7().simple()));
    let draft = Path::new(&name);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(draft)?;
    let written = file.write_all(&random_key()?).and_then(|()| file.sync_all());
    let owned = written.and_then(|()| give_to_owner(draft));
    let linked = owned.and_then(|()| fs::hard_link(draft, path));
    let _ = fs::remove_file(draft);
    match linked {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_own_binding_and_key_open_it() {
        let cipher = Cipher::new(&[1; 32]).unwrap();
        let mut content = b"secret".to_vec();
        let nonce = cipher.seal(&[7; 32], &mut content).unwrap();
        assert!(!content.windows(6).any(|part| part == b"secret"));
        assert_eq!(cipher.open(&[7; 32], nonce, content.clone()).unwrap(), b"secret");
        assert_eq!(cipher.open(&[8; 32], nonce, content.clone()), Err(StoreError::Decrypt));
        let other = Cipher::new(&[2; 32]).unwrap();
        assert_eq!(other.open(&[7; 32], nonce, content.clone()), Err(StoreError::Decrypt));
        content[0] ^= 1;
        assert_eq!(cipher.open(&[7; 32], nonce, content), Err(StoreError::Decrypt));
        assert_eq!(cipher.open(&[7; 32], nonce, vec![]), Err(StoreError::Decrypt));
    }

    #[cfg(unix)]
    #[test]
    fn a_key_file_is_private_and_stays() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db.key");
        let key = file_key(&path).unwrap();
        assert_eq!(file_key(&path).unwrap(), key);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");

        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(file_key(&path).unwrap_err().contains("hint: chmod 600"));
        fs::write(&path, "short").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(file_key(&path).unwrap_err().contains("contains 5"));
    }
}
