package refusal

// Sources of secrets.
var (
	SourceUnset       = define("source.unset", ExitUsage, "the environment variable {name} is not set[ ({where})]", "name", "where")
	SourceFile        = define("source.file", ExitUsage, "the secret file[ {path}] cannot be read[ ({where})]", "path", "where")
	SourceMode        = define("source.mode", ExitUsage, "the secret file[ {path}] can be written by others (mode {mode})", "path", "mode", "where")
	SourceCommand     = define("source.command", ExitUsage, "the command of a secret source failed[ with exit code {exit}][ ({where})]", "exit", "where")
	SourceEmpty       = define("source.empty", ExitUsage, "the secret source gives an empty value[ ({where})]", "where")
	SourceTooLarge    = define("source.too_large", ExitUsage, "the secret source gives over {limit} bytes[ ({where})]", "limit", "where")
	SourceNotText     = define("source.not_text", ExitUsage, "the secret cannot be sent in a header[ ({where})]", "where")
	SourceUnsupported = define("source.unsupported", ExitUsage, "this kind of secret source is not available here[ ({where})]", "where", "kind")
	SourceRejected    = define("source.rejected", ExitSignIn, "the server refuses the configured credential (status {status})", "status")
)

// Configuration.
var (
	ConfigMissing       = define("config.missing", ExitUsage, "there is no configuration file[ at {path}]", "path")
	ConfigUnreadable    = define("config.unreadable", ExitUsage, "the file[ {path}] cannot be read", "path")
	ConfigSyntax        = define("config.syntax", ExitUsage, "not strict JSON: {fault}[ at line {line}, column {column}]", "path", "fault", "line", "column", "pointer")
	ConfigUnknownMember = define("config.unknown_member", ExitUsage, "{pointer} is not a member of the configuration", "path", "pointer")
	ConfigDuplicate     = define("config.duplicate_member", ExitUsage, "{pointer} stands there twice", "path", "pointer", "line", "column")
	ConfigType          = define("config.type", ExitUsage, "{pointer} must be {want}", "path", "pointer", "want")
	ConfigValue         = define("config.value", ExitUsage, "{pointer}: {reason}", "path", "pointer", "reason")
	ConfigSecret        = define("config.secret_value", ExitUsage, "{pointer} must name where the secret comes from, not hold it", "path", "pointer")
	ConfigTemplate      = define("config.template", ExitUsage, "{pointer} holds a $NAME template, which is not expanded", "path", "pointer")
	ConfigForeign       = define("config.foreign_format", ExitUsage, "this is a configuration of another program[ ({kind})]", "path", "kind", "pointer")
	ConfigNoServer      = define("config.no_such_server", ExitUsage, "no server {name} in the configuration[; did you mean {near}?]", "name", "near", "path")
	ConfigURL           = define("config.url", ExitUsage, "{pointer}: {reason}", "pointer", "reason", "path")
	ConfigHome          = define("config.no_home", ExitUsage, "neither HOME nor {name} names a directory", "name")
)

// Snapshots.
var (
	SnapshotMissing   = define("snapshot.missing", ExitUsage, "there is no snapshot[ {snapshot}]", "snapshot")
	SnapshotAmbiguous = define("snapshot.ambiguous", ExitUsage, "{snapshot} begins the id of several snapshots", "snapshot")
	SnapshotAltered   = define("snapshot.altered", ExitRefused, "the snapshot is not as it was written[ ({pointer})]", "pointer", "path", "snapshot")
	SnapshotVersion   = define("snapshot.version", ExitRefused, "the file is not a snapshot of a version that mcpc reads", "path")
	SnapshotWrite     = define("snapshot.write", ExitPeer, "the snapshot cannot be written[ to {path}]", "path")
	SnapshotUnstable  = define("snapshot.unconfirmed", ExitPeer, "two listings of the same server differ")
	SnapshotNoTool    = define("snapshot.no_such_tool", ExitUsage, "the snapshot has no tool {tool}[; did you mean {near}?]", "tool", "snapshot", "near")
	SnapshotServer    = define("snapshot.other_server", ExitRefused, "the two snapshots are of different servers")
)

// Authority.
var (
	AuthorityMissing         = define("authority.missing", ExitRefused, "nothing says what may be called on this server", "tool")
	AuthorityUnreadable      = define("authority.unreadable", ExitUsage, "the authority document[ {path}] cannot be read", "path")
	AuthoritySyntax          = define("authority.syntax", ExitRefused, "the authority document is not strict JSON: {fault}[ at line {line}, column {column}]", "path", "fault", "line", "column")
	AuthorityInvalid         = define("authority.invalid", ExitRefused, "the authority document is not valid at {pointer}: {reason}", "path", "pointer", "reason")
	AuthorityMode            = define("authority.mode", ExitRefused, "the authority document[ {path}] can be written by others (mode {mode})", "path", "mode")
	AuthorityVersion         = define("authority.version", ExitRefused, "the document is not an authority document of a version that mcpc reads", "path")
	AuthorityUnreviewed      = define("authority.unreviewed", ExitRefused, "no one has signed the review (review.by)", "path")
	AuthorityExpired         = define("authority.expired", ExitRefused, "the authority document ended at {at}", "at", "path")
	AuthorityServer          = define("authority.server_mismatch", ExitRefused, "the authority document is for another server", "path")
	AuthorityAuth            = define("authority.auth_mismatch", ExitRefused, "the sign-in in use is not the one that was reviewed ({what})", "what", "path")
	AuthoritySnapshot        = define("authority.snapshot_mismatch", ExitRefused, "the authority document pins another snapshot[: {snapshot}]", "snapshot", "path")
	AuthorityToolNotGranted  = define("authority.tool_not_granted", ExitRefused, "{tool} is not granted[ by {path}][; did you mean {near}?]", "tool", "path", "near")
	AuthorityNotAllowed      = define("authority.action_not_allowed", ExitRefused, "{tool} is granted, but not to {action}", "tool", "action", "path")
	AuthorityToolMissing     = define("authority.tool_not_in_snapshot", ExitRefused, "the snapshot has no tool {tool}[; did you mean {near}?]", "tool", "path", "near")
	AuthorityToolRejected    = define("authority.tool_rejected", ExitRefused, "{tool} is among the rejected of the pinned snapshot ({reason})", "tool", "reason", "path")
	AuthorityArguments       = define("authority.arguments", ExitRefused, "the arguments of {tool} are outside what is granted[, at {pointer}]", "tool", "pointer", "path", "keyword")
	AuthorityArgumentBytes   = define("authority.argument_bytes", ExitRefused, "the arguments of {tool} are over the {limit} bytes that are granted", "tool", "limit", "path")
	AuthorityDescriptor      = define("authority.descriptor_changed", ExitRefused, "the live descriptor of {tool} is not the pinned one", "tool", "path")
	AuthorityDescriptorGone  = define("authority.descriptor_missing", ExitRefused, "the server no longer lists {tool}", "tool", "path")
	AuthorityNotEvaluated    = define("authority.not_evaluated", ExitRefused, "the arguments of {tool} cannot be checked against what is granted", "tool", "path")
	AuthorityChangedNotNamed = define("authority.changed_grant", ExitRefused, "{tool} changed or went away, and is carried over or dropped only when named", "tool", "path")
)

// Arguments of a call.
var (
	ArgumentsSyntax    = define("arguments.syntax", ExitUsage, "{argument}: {reason}", "argument", "reason", "tool")
	ArgumentsUnknown   = define("arguments.unknown", ExitUsage, "{argument} is not an argument of {tool}[ ({known})]", "argument", "tool", "known")
	ArgumentsDuplicate = define("arguments.duplicate", ExitUsage, "{argument} is given twice", "argument", "tool")
	ArgumentsType      = define("arguments.type", ExitUsage, "{argument} must be {want}", "argument", "want", "tool")
	ArgumentsMissing   = define("arguments.missing", ExitUsage, "{tool} requires an argument that is not given[: {argument}]", "argument", "tool")
	ArgumentsFile      = define("arguments.file", ExitUsage, "the file of {argument} cannot be read", "argument", "tool")
	ArgumentsJSON      = define("arguments.json", ExitUsage, "the arguments are not one strict JSON object ({fault})", "fault", "tool", "offset")
	ArgumentsHeader    = define("arguments.header_integer", ExitUsage, "{argument} is mirrored into a header and must be an integer within ±(2^53-1)", "argument", "tool")
	ArgumentsSchema    = define("arguments.schema", ExitUsage, "the arguments do not fit the pinned schema of {tool}[, at {pointer}]", "tool", "pointer", "keyword")
)

// Local output.
var (
	OutputExists = define("output.exists", ExitUsage, "the file {path} exists already", "path")
	OutputWrite  = define("output.write", ExitPeer, "cannot write[ {path}]", "path")
)
