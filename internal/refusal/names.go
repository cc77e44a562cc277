package refusal

// General.
var (
	Internal    = define("internal", ExitPeer, "something in mcpc itself went wrong; please report it")
	Interrupted = define("interrupted", ExitInterrupted, "interrupted by the user")
	Usage       = define("usage", ExitUsage, "{reason}", "reason", "name")
)

// Features that mcpc does not admit.
var (
	FeatureResources   = feature("resources")
	FeaturePrompts     = feature("prompts")
	FeatureElicitation = feature("elicitation")
	FeatureSampling    = feature("sampling")
	FeatureRoots       = feature("roots")
	FeatureTasks       = feature("tasks")
	FeatureCompletion  = feature("completion")
	FeatureLogging     = feature("logging")
	FeatureMultiRound  = define("feature.multi_round", ExitRefused, "the server asks for more input before it answers[ ({features})]; multi-round results are not admitted in 0.1", "features", "tool")
	FeatureUnknown     = define("feature.unknown", ExitRefused, "the server asked for something that mcpc does not admit, and the call failed", "tool")
	FeatureListen      = define("feature.listen", ExitRefused, "the server does not offer change notifications for its tools")
)

func feature(name string) *Entry {
	return define("feature."+name, ExitRefused, name+" is not admitted in 0.1; mcpc speaks tools/list and tools/call", "tool")
}

// Limits. Every one says the limit, in the unit that docs/limits.md gives for it.
var (
	LimitFrame         = limit("frame", "a frame is over {limit} bytes")
	LimitResult        = limit("result", "a result is over {limit} bytes")
	LimitEvents        = limit("events", "the answer has over {limit} messages")
	LimitDescriptor    = limit("descriptor", "a tool descriptor is over {limit} bytes[ (page {page}, index {index})]", "page", "index")
	LimitTools         = limit("tools", "the server lists over {limit} tools")
	LimitPages         = limit("pages", "the tool list has over {limit} pages")
	LimitSnapshot      = limit("snapshot", "the snapshot is over {limit} bytes")
	LimitCursor        = limit("cursor", "a cursor is over {limit} bytes[ (page {page})]", "page")
	LimitArguments     = limit("arguments", "the arguments are over {limit} bytes")
	LimitDepth         = limit("depth", "JSON is nested deeper than {limit}")
	LimitDocument      = limit("document", "a metadata, registration or token document is over {limit} bytes")
	LimitHeaders       = limit("headers", "response headers are over {limit} bytes")
	LimitConfig        = limit("config", "the file is over {limit} bytes")
	LimitSkippedLines  = limit("skipped_lines", "the server wrote over {limit} lines to stdout that are not frames")
	DeadlineStart      = deadline("start", "the server did not answer its first message in {limit} ms")
	DeadlineRequest    = deadline("request", "no answer to {method} in {limit} ms", "method")
	DeadlineDiscovery  = deadline("discovery", "listing the tools took over {limit} ms")
	DeadlineCall       = deadline("call", "the call was not answered in {limit} ms")
	DeadlineSignIn     = deadline("sign_in", "no callback came to {callback} in {limit} ms", "callback")
	DeadlineLock       = deadline("lock", "another process held the lock for over {limit} ms")
	DeadlineAuthorizer = deadline("authorization", "an authorization request was not answered in {limit} ms")
)

func limit(name, sentence string, fields ...string) *Entry {
	return define("limit."+name, ExitRefused, sentence, append(fields, "limit")...)
}

func deadline(name, sentence string, fields ...string) *Entry {
	return define("limit.deadline_"+name, ExitPeer, sentence, append(fields, "limit")...)
}
