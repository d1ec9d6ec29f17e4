package text

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// builtinStopWords holds the most common function words (articles, pronouns,
// prepositions, conjunctions, auxiliary verbs) of a few languages.
var builtinStopWords = map[string]string{
	"en": `a about after all also an and any are as at be because been but by can could did do does for from had
		has have he her him his how i if in into is it its just may me more most my no not of on one only or other
		our out over she should so some such than that the their them then there these they this those to up us
		was we were what when where which while who why will with would you your`,
	"de": `aber alle als also am an auch auf aus bei bin bis da damit dann das dass dein dem den denn der des dich
		die dies diese diesem diesen dieser dir doch du durch ein eine einem einen einer eines er es euch euer für
		hat hatte haben hier ich ihm ihn ihr ihre im in ist ja kann kein keine können man mein mich mir mit muss
		nach nicht noch nun nur ob oder ohne sehr sein seine sich sie sind so über um und uns unter vom von vor war
		waren was weil wenn wer werden wie wir wird wo zu zum zur`,
	"fr": `à ai au aux avec avoir c ce ces cet cette comme d dans de des donc du elle elles en es est et été être
		eux il ils j je l la le les leur leurs lui m ma mais me mes moi mon n ne nos notre nous on ont ou où par
		pas plus pour qu que qui s sa sans se ses si son sont sous sur ta te tes toi ton tu un une vos votre vous y`,
	"es": `a al algo ante como con contra cual cuando de del desde donde durante e el ella ellas ellos en entre era
		es esa ese eso esta está este esto fue ha hasta hay la las le les lo los más me mi muy nada ni no nos
		nosotros o otra otro para pero por porque que quien se ser si sí sin sobre son su sus también te tiene todo
		tu un una uno y ya yo`,
	"it": `a ad agli ai al alla alle anche c che chi ci come con cui d da dagli dai dal dalla dei del della delle
		dello di dove e ed era essere gli ha hanno ho i il in io l la le lei lo loro lui ma mi mia mio ne negli nei
		nel nella no noi non o per perché più quale quando quanto quella quello questa questo se sei si sia sono su
		sua sul sulla suo ti tra tu tutti tutto un una uno vi voi`,
	"pt": `a à ao aos as às até com como da das de dela dele do dos e é ela elas ele eles em entre era essa esse
		esta está este eu foi há isso isto já lhe mais mas me mesmo meu minha muito na não nas nem no nos nós o os
		ou para pela pelas pelo pelos por qual quando que quem são se sem ser seu seus só sua suas também te tem um
		uma você`,
	"nl": `aan al als bij dan dat de der deze die dit doch door dus een en er ge geen had haar heb hebben heeft hem
		het hier hij hoe hun ik in is ja je kan maar me meer men met mijn naar niet nog nu of om omdat ons ook op
		over te tegen toch toen tot u uit uw van veel voor want waren was wat we wel werd wie wij wordt ze zelf zich
		zij zijn zo zonder zou`,
	"ru": `а без бы был была были было быть в вам вас во вот все всё вы где да для до его ее её ей если есть еще ещё
		же за здесь и из или им их к как ко когда кто ли лишь мне мы на над не него нее ней нет ни них но ну о об он
		она они оно от по под при с со так также там то того тоже только том ты у уже хотя чего чем что чтобы эта
		эти это этот я`,
}

// BuiltinStopWords returns the most common function words of a language, named by its
// two-letter code: de, en, es, fr, it, nl, pt or ru.
func BuiltinStopWords(lang string) ([]string, error) {
	words, ok := builtinStopWords[lang]
	if !ok {
		return nil, fmt.Errorf("text: no built-in stop words for language %q: use one of %s, or give a list",
			lang, strings.Join(slices.Sorted(maps.Keys(builtinStopWords)), ", "))
	}
	return strings.Fields(words), nil
}
