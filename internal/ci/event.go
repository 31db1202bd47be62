package ci

import (
	"bytes"
	"encoding/json"
	"fmt"
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
		return event{}, &Error{Message: fmt.Sprintf("the event cannot be read: %v", err), Remedy: explicitRemedy}
	}
	return e, nil
}
