// Package decide chooses links among candidates by their probabilities: by rules of how many partners a record may
// have, and by cuts. It estimates how many of the links are right, and how many matches they leave out.
package decide
