package ci

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/wording"
)

// MaxEvent is how many bytes an event may have. GitHub's are at most 25 MB.
const MaxEvent = 32 << 20

// event is what is read of GitHub's webhook payloads
// (https://docs.github.com/en/webhooks/webhook-events-and-payloads); Forgejo's
// and Gitea's have the same fields.
type event struct {
	Action string `json:"action"`

	// Of a push.
	Ref     string `json:"ref"`
	Before  string `json:"before"`
	After   string `json:"after"`
	Forced  bool   `json:"forced"`
	Deleted bool   `json:"deleted"`

	PullRequest *struct {
		Number json.Number `json:"number"`
		State  string      `json:"state"`
		Head   side        `json:"head"`
		Base   side        `json:"base"`
		Labels []struct {
			Name string `json:"name"`
		} `json:"labels"`
	} `json:"pull_request"`

	MergeGroup *struct {
		HeadSHA string `json:"head_sha"`
		BaseSHA string `json:"base_sha"`
		BaseRef string `json:"base_ref"`
	} `json:"merge_group"`

	Repository struct {
		DefaultBranch string `json:"default_branch"`
		FullName      string `json:"full_name"`
	} `json:"repository"`
}

// side is the head or the base of a pull request.
type side struct {
	Ref string `json:"ref"`
	SHA string `json:"sha"`
}

// parse reads an event; nothing at all is an empty one.
func parse(data []byte) (event, error) {
	var e event
	if len(data) > MaxEvent {
		return e, &Error{Message: fmt.Sprintf("the event has more than %d bytes", MaxEvent), Remedy: explicitRemedy}
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return e, nil
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return event{}, &Error{Message: "the event cannot be read: " + unreadable(err), Remedy: explicitRemedy}
	}
	return e, nil
}

// unreadable says why an event cannot be read, by the names of its fields.
func unreadable(err error) string {
	var odd *json.UnmarshalTypeError
	var broken *json.SyntaxError
	switch {
	case errors.As(err, &odd) && odd.Field == "":
		return fmt.Sprintf("it is of the JSON type %s, and no object", wording.Clip(jsonType(odd.Value)))
	case errors.As(err, &odd):
		return fmt.Sprintf("%s holds what is of the JSON type %s, which nobody writes there", wording.Clip(odd.Field), wording.Clip(jsonType(odd.Value)))
	case errors.As(err, &broken):
		return fmt.Sprintf("it is not JSON, or not all of it is there (byte %d)", broken.Offset)
	}
	return "what should be a number in it is none" // of what is left this alone can be
}

// jsonType is the type in what encoding/json says of a value: of a number it
// gives the digits too.
func jsonType(value string) string {
	word, _, _ := strings.Cut(value, " ")
	return word
}

// labels notes those of a pull request's labels that claim a lane.
func (p *Plan) labels(e event) {
	if e.PullRequest == nil {
		return
	}
	for _, label := range e.PullRequest.Labels {
		p.label(label.Name)
	}
}

// isPullRequest reports whether an event of that name is of a pull request.
func isPullRequest(name string) bool {
	switch name {
	case "pull_request", "pull_request_target", "pull_request_review", "pull_request_review_comment":
		return true
	}
	return false
}
