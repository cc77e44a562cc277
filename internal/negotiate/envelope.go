package negotiate

import (
	"mcpc/internal/strictjson"
	"mcpc/internal/transport"
)

// envelope builds the parameters of one request. Members stand in a fixed order and values are spliced in as they
// are, so the same request always has the same bytes.
type envelope struct {
	b     []byte
	count int
}

func (e *envelope) add(name string, value []byte) *envelope {
	if e.count++; e.count == 1 {
		e.b = append(e.b, '{')
	} else {
		e.b = append(e.b, ',')
	}
	e.b = append(strictjson.AppendQuote(e.b, name), ':')
	e.b = append(e.b, value...)
	return e
}

func (e *envelope) object() []byte {
	if e.count == 0 {
		return []byte("{}")
	}
	return append(e.b, '}')
}

// info is the Implementation object of client.
func (c Client) info() []byte {
	return new(envelope).add("name", strictjson.Quote(c.Name)).add("version", strictjson.Quote(c.Version)).object()
}

// meta adds _meta: in the modern era what every request must declare (specification, basic/index), and before it only
// a progress token. Capabilities are always empty; there is nothing that a server may ask of mcpc.
func (e *envelope) meta(protocol string, client Client, token string) *envelope {
	m := new(envelope)
	if protocol == transport.Modern {
		m.add("io.modelcontextprotocol/protocolVersion", strictjson.Quote(protocol)).
			add("io.modelcontextprotocol/clientInfo", client.info()).
			add("io.modelcontextprotocol/clientCapabilities", []byte("{}"))
	}
	if token != "" {
		m.add("progressToken", strictjson.Quote(token))
	}
	if m.count == 0 {
		return e
	}
	return e.add("_meta", m.object())
}

func discoverRequest(client Client) *transport.Request {
	return &transport.Request{
		Method:   methodDiscover,
		Params:   new(envelope).meta(transport.Modern, client, "").object(),
		NoCancel: true,
	}
}

func initializeRequest(client Client, offer string) *transport.Request {
	params := new(envelope).add("protocolVersion", strictjson.Quote(offer)).
		add("capabilities", []byte("{}")).
		add("clientInfo", client.info())
	return &transport.Request{Method: methodInitialize, Params: params.object()}
}

func listRequest(protocol string, client Client, cursor *string) *transport.Request {
	params := new(envelope)
	if cursor != nil {
		params.add("cursor", strictjson.Quote(*cursor))
	}
	return &transport.Request{Method: methodList, Params: params.meta(protocol, client, "").object()}
}

func callRequest(protocol string, client Client, call Call, token string) *transport.Request {
	arguments := call.Arguments
	if arguments == nil {
		arguments = []byte("{}")
	}
	params := new(envelope).add("name", strictjson.Quote(call.Tool)).add("arguments", arguments)
	return &transport.Request{
		Method:  methodCall,
		Params:  params.meta(protocol, client, token).object(),
		Name:    call.Tool,
		Headers: call.Headers,
	}
}

func listenRequest(client Client) *transport.Request {
	params := new(envelope).add("notifications", []byte(`{"toolsListChanged":true}`))
	return &transport.Request{Method: methodListen, Params: params.meta(transport.Modern, client, "").object()}
}

// CallMessage returns the exact bytes that Call would send first after Resume, for --dry-run; protocol as Resume takes
// it. In the legacy era initialize comes before and has the first id.
func CallMessage(protocol string, client Client, call Call) []byte {
	token := ""
	if call.Progress != nil {
		token = progressToken(1)
	}
	id := int64(1)
	if protocol != transport.Modern {
		id = 2
	}
	return transport.EncodeRequest(id, callRequest(protocol, client, call, token))
}
