// Package config reads the servers file: which servers there are, how they are reached, and where secrets come from.
//
// It guarantees that a configuration which loads holds no secret value: a secret is an object that names its source.
// It reads strict JSON only, refuses unknown and duplicate members with the path to the member, expands nothing, and
// never looks for a file in the working directory.
package config

// Config is a loaded servers file.
type Config struct {
	Path    string // the file it was read from; "" for the empty configuration
	Servers map[string]*Server
	Custody Custody
}

// Server is one entry of "servers", or a server given on the command line.
type Server struct {
	Name            string // alias in the configuration; "" for one given on the command line
	Stdio           *Stdio // exactly one of Stdio and HTTP is set
	HTTP            *HTTP
	OAuth           *OAuth // nil when not configured
	Protocol        string // pins a protocol version; "" to negotiate
	AcceptProtocols []string
	Authority       string // path of the authority document, resolved against the configuration's folder; "" when not set
	Limits          Limits
}

// Stdio is a server that mcpc starts.
type Stdio struct {
	Command   []string // argv; never passed to a shell
	Env       []string // names of the environment variables that the child sees, and no others
	Cwd       string   // "" for mcpc's own
	SkipNoise bool     // "stdout_noise": "skip"
}

// HTTP is a server reached by Streamable HTTP.
type HTTP struct {
	URL     string // as configured, byte for byte
	Headers []Header
	CAFile  string // PEM certificates trusted beside the system's; "" for none
}

// Header is a request header whose value comes from a source.
type Header struct {
	Name   string
	Source Source
}

// OAuth is what an operator says about sign-in to one server. All members are optional.
type OAuth struct {
	Issuer            string   // exact issuer string, pinned
	Client            *Client  // a client registered beforehand
	ClientMetadataURL string   // client ID metadata document (CIMD) that the operator hosts
	Scopes            []string // asked for in place of those the server names
	Callback          string   // HOST:PORT of the loopback listener; "" for 127.0.0.1 and any free port
}

// Client is a client registered with one issuer beforehand.
type Client struct {
	ID     string
	Secret *Source // nil for a public client
	Issuer string
}

// Custody says where the key comes from that seals stored credentials.
type Custody struct {
	Key Source
}
