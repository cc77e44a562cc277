package refusal

// SnapshotUnreadable is a stored snapshot that is there and cannot be read.
var SnapshotUnreadable = define("snapshot.unreadable", ExitUsage, "the snapshot[ {path}] cannot be read", "path")
