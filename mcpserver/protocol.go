package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/alike-dev/alike/internal/fault"
)

// The versions of the protocol that are spoken, newest first. Since the first of them, a request says in _meta which one it
// speaks; before, both sides agree on one at the beginning.
var versions = []string{perRequest, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

const perRequest = "2026-07-28"

// A Server answers requests. It holds nothing of who asks, and is safe for concurrent use.
type Server struct {
	name, version, instructions string
	c                           Collection
	tools                       []tool
}

// tool is a tool, as a list of them shows it.
type tool struct {
	Name         string             `json:"name"`
	Description  string             `json:"description"`
	InputSchema  *jsonschema.Schema `json:"inputSchema"`
	OutputSchema *jsonschema.Schema `json:"outputSchema"`
	Annotations  hints              `json:"annotations"`

	call func(ctx context.Context, arguments json.RawMessage) (any, error)
}

type hints struct {
	ReadOnly    bool  `json:"readOnlyHint,omitempty"`
	Idempotent  bool  `json:"idempotentHint,omitempty"`
	Destructive *bool `json:"destructiveHint,omitempty"`
}

func addTool[In, Out any](s *Server, name, about string, h hints, answer func(context.Context, In) (*Out, error)) {
	t := tool{Name: name, Description: about, InputSchema: schemaOf[In](), OutputSchema: schemaOf[Out](), Annotations: h}
	t.call = func(ctx context.Context, given json.RawMessage) (any, error) {
		var in In
		if err := t.decode(given, &in); err != nil {
			return nil, fmt.Errorf("arguments: %w", err)
		}
		return answer(ctx, in)
	}
	s.tools = append(s.tools, t)
}

func schemaOf[T any]() *jsonschema.Schema {
	schema, err := jsonschema.For[T](nil)
	if err != nil {
		panic(err) // no type of this package has a part without a schema
	}
	return schema
}

// decode decodes arguments. A null is an argument that is not given: agents write it for those that may be left out.
func (t *tool) decode(given json.RawMessage, in any) error {
	arguments := map[string]json.RawMessage{}
	if len(given) > 0 {
		if err := fault.Decode(bytes.NewReader(given), &arguments, false); err != nil {
			return err
		}
	}
	maps.DeleteFunc(arguments, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	for _, name := range t.InputSchema.Required {
		if arguments[name] == nil {
			return fmt.Errorf("%s is missing", name)
		}
	}
	known, err := json.Marshal(arguments)
	if err != nil {
		return err
	}
	return fault.Decode(bytes.NewReader(known), in, true)
}

// message is a request; without an id a note, which has no answer.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  params          `json:"params"`
}

// params are what the methods read of their parameters.
type params struct {
	Meta struct {
		Version      string           `json:"io.modelcontextprotocol/protocolVersion"`
		Capabilities *json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`
	} `json:"_meta"`
	Version   string          `json:"protocolVersion"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	URI       string          `json:"uri"`
	Cursor    string          `json:"cursor"`
	RequestID json.RawMessage `json:"requestId"`
}

// answer is what a request gets: a result or a refusal.
type answer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *refusal        `json:"error,omitempty"`
}

type object map[string]any

// refusal is an error of JSON-RPC.
type refusal struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (r *refusal) Error() string { return r.Message }

// Codes of JSON-RPC, and the last two of the protocol.
const (
	noJSON       = -32700
	noMessage    = -32600
	noMethod     = -32601
	wrongParams  = -32602
	failed       = -32603
	wrongHeader  = -32020
	wrongVersion = -32022
)

// messagesOf cuts what was sent into messages: one, or those of an array, which versions before 2025-06-18 have.
func messagesOf(sent []byte) ([]json.RawMessage, *answer) {
	messages := []json.RawMessage{sent}
	switch {
	case !json.Valid(sent):
		return nil, refused(nil, &refusal{Code: noJSON, Message: "the line is not JSON"})
	case sent[0] == '[' && json.Unmarshal(sent, &messages) != nil || len(messages) == 0:
		return nil, refused(nil, errNoMessage)
	}
	return messages, nil
}

var errNoMessage = &refusal{Code: noMessage, Message: "this is no message of JSON-RPC 2.0, or its id is neither a string nor a number"}

// parse parses a message, or refuses what is none. An answer is a message as well: as nothing is asked here, it is a note.
func parse(sent json.RawMessage) (m message, no *answer) {
	err := json.Unmarshal(sent, &m)
	if string(m.ID) == "null" {
		m.ID = nil
	}
	named := len(m.ID) > 0 && (m.ID[0] == '"' || m.ID[0] == '-' || '0' <= m.ID[0] && m.ID[0] <= '9')
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil && m.Version == "2.0" && (named || m.Method != "" && m.ID == nil):
		return m, nil
	case !named:
		m.ID = nil
	case errors.As(err, &kind) && strings.HasPrefix(kind.Field, "params."):
		return m, refused(m.ID, &refusal{Code: wrongParams, Message: kind.Field + " " + fault.Mistyped(kind)})
	}
	return m, refused(m.ID, errNoMessage)
}

// isRequest tells whether a message must be answered.
func (m *message) isRequest() bool { return m.ID != nil && m.Method != "" }

func refused(id json.RawMessage, err error) *answer {
	var no *refusal
	if !errors.As(err, &no) {
		no = &refusal{Code: failed, Message: err.Error()}
	}
	if id == nil {
		id = json.RawMessage("null")
	}
	return &answer{Version: "2.0", ID: id, Error: no}
}

// answer answers a request.
func (s *Server) answer(ctx context.Context, m *message) *answer {
	perRequest, err := m.spoken()
	var result object
	if err == nil {
		result, err = s.result(ctx, m, perRequest)
	}
	if err != nil {
		return refused(m.ID, err)
	}
	if perRequest {
		result["resultType"] = "complete"
		result["_meta"] = object{"io.modelcontextprotocol/serverInfo": s.info()}
	}
	return &answer{Version: "2.0", ID: m.ID, Result: result}
}

// spoken tells whether a request says for itself which version it speaks, and refuses what is not spoken here.
func (m *message) spoken() (bool, error) {
	switch meta := m.Params.Meta; {
	case meta.Version < perRequest:
		return false, nil
	case !slices.Contains(versions, meta.Version):
		return true, &refusal{wrongVersion, "unsupported protocol version", object{"supported": versions, "requested": meta.Version}}
	case meta.Capabilities == nil:
		return true, &refusal{Code: wrongParams, Message: "_meta has no io.modelcontextprotocol/clientCapabilities"}
	}
	return true, nil
}

func (s *Server) info() object { return object{"name": s.name, "version": s.version} }

// capabilities has empty objects: neither tools nor the list of resources change, and nobody is told.
var capabilities = object{"tools": object{}, "resources": object{}}

// result is the result of a method. The methods of versions that agree at the beginning, and that in place of agreeing, are
// not there for the others.
func (s *Server) result(ctx context.Context, m *message, perRequest bool) (object, error) {
	switch {
	case m.Method == "initialize" && !perRequest:
		version := m.Params.Version
		if !slices.Contains(versions[1:], version) {
			version = versions[1]
		}
		return object{"protocolVersion": version, "capabilities": capabilities, "serverInfo": s.info(), "instructions": s.instructions}, nil
	case m.Method == "ping" && !perRequest:
		return object{}, nil
	case m.Method == "server/discover" && perRequest:
		return whole(object{"supportedVersions": versions, "capabilities": capabilities, "instructions": s.instructions}), nil
	case m.Method == "tools/call":
		return s.call(ctx, m.Params.Name, m.Params.Arguments)
	case m.Method == "resources/read":
		return s.read(ctx, m.Params.URI)
	case m.Params.Cursor != "": // every list is told at once
		return nil, &refusal{Code: wrongParams, Message: "no list was continued: there is no such cursor"}
	case m.Method == "tools/list":
		return whole(object{"tools": s.tools}), nil
	case m.Method == "resources/list":
		return whole(object{"resources": []object{}}), nil
	case m.Method == "resources/templates/list":
		return whole(object{"resourceTemplates": []object{{"name": "document", "uriTemplate": documentURI + "{id}", "mimeType": "text/plain",
			"description": "A document of the collection, by its id."}}}), nil
	}
	return nil, &refusal{Code: noMethod, Message: fmt.Sprintf("method not found: %q", m.Method)}
}

// whole adds how long a result may be kept: not at all.
func whole(result object) object {
	result["ttlMs"], result["cacheScope"] = 0, "public"
	return result
}

func (s *Server) call(ctx context.Context, name string, arguments json.RawMessage) (object, error) {
	at := slices.IndexFunc(s.tools, func(t tool) bool { return t.Name == name })
	if at < 0 {
		return nil, &refusal{Code: wrongParams, Message: fmt.Sprintf("unknown tool %q", name)}
	}
	out, err := s.tools[at].call(ctx, arguments)
	if err != nil { // the agent reads it, and may ask otherwise
		return object{"isError": true, "content": texts(err.Error())}, nil
	}
	told, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	return object{"structuredContent": out, "content": texts(string(told))}, nil
}

func texts(text string) []object { return []object{{"type": "text", "text": text}} }

func (s *Server) read(ctx context.Context, uri string) (object, error) {
	text, found, err := s.document(ctx, uri)
	if err == nil && !found {
		err = &refusal{wrongParams, "Resource not found", object{"uri": uri}}
	}
	return whole(object{"contents": []object{{"uri": uri, "mimeType": "text/plain", "text": text}}}), err
}
