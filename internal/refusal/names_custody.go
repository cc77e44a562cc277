package refusal

// Custody: the sealed credentials and the key that opens them.
var (
	CustodyKeyUnavailable = define("custody.key_unavailable", ExitUsage, "the key that seals credentials cannot be had: {reason}", "reason", "path")
	CustodyKeyLost        = define("custody.key_lost", ExitSignIn, "the key that opens the stored credentials is gone from {kind}", "kind")
	CustodyKeyInvalid     = define("custody.key_invalid", ExitUsage, "what {kind} holds is not a key: it must be 32 bytes in base64", "kind")
	CustodyKeyringLocked  = define("custody.keyring_locked", ExitSignIn, "the keyring is locked, or not started, and only a sign-in may change that")
	CustodyKeyringTimeout = define("custody.keyring_timeout", ExitSignIn, "the keyring did not answer in {limit} ms", "limit")
	CustodyKeyring        = define("custody.keyring_unavailable", ExitUsage, "the keyring cannot be used: {reason}", "reason")
	CustodyMode           = define("custody.mode", ExitUsage, "{path} is open to others than its owner (mode {mode})", "path", "mode")
	CustodyAltered        = define("custody.altered", ExitRefused, "a stored credential does not open: it was changed or moved, or sealed with another key[ ({path})]", "path")
	CustodyTooLarge       = define("custody.too_large", ExitRefused, "a credential is over the {limit} bytes that are kept", "limit")
	CustodyRead           = define("custody.read", ExitPeer, "a stored credential cannot be read[ ({path})]", "path")
	CustodyWrite          = define("custody.write", ExitPeer, "a credential cannot be written[ ({path})]; what was stored is as it was", "path")
	SourceKeyring         = define("source.keyring", ExitUsage, "the keyring has no such entry[ ({where})]", "where")
)

// SnapshotUnreadable is a stored snapshot that is there and cannot be read.
var SnapshotUnreadable = define("snapshot.unreadable", ExitUsage, "the snapshot[ {path}] cannot be read", "path")
