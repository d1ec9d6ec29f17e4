package main

// The grammar of the example texts. In a rule, {name} stands for one of the
// entries of words[name], itself a rule; {Name} for one that stays the same within
// a text; {3..9} for a number; "a~" for a or an.
//
// Two texts of one topic share many rules, so a rule has a slot at least every
// few words: otherwise texts that nobody copied would have five words in a row
// in common all the time.

// words are the lists that slots are filled from.
var words = map[string][]string{
	"town": {
		"Aldermoor", "Brackwater", "Cindle", "Dunmarrow", "Eastlow", "Fennick", "Garrowby", "Hollins", "Inverlay", "Jessop",
		"Kelderby", "Lannock", "Marsh End", "Netherfold", "Oxley", "Penhallow", "Quarrington", "Ravensea", "Saltby", "Thornwick",
		"Upper Ash", "Vexham", "Withern", "Yarrowgate",
	},
	"river": {"Arle", "Bourne", "Cass", "Dray", "Ember", "Fleet", "Gannel", "Hythe", "Isk", "Lorne", "Mere", "Nidd", "Orrin", "Pell", "Teign", "Wend"},
	"first": {
		"Ada", "Bruno", "Clara", "Dmitri", "Elif", "Farid", "Greta", "Hana", "Ivo", "Joan", "Kofi", "Lena", "Mateo", "Nadia",
		"Oskar", "Petra", "Quentin", "Rosa", "Samir", "Tove", "Ugo", "Vera", "Wim", "Yuki", "Zora",
	},
	"last": {
		"Abbot", "Bexley", "Carrow", "Dahl", "Eriksen", "Faulks", "Grell", "Hartung", "Imber", "Jansen", "Kowal", "Lindqvist",
		"Marlowe", "Noakes", "Okafor", "Pardoe", "Quill", "Rennick", "Sorley", "Tanaka", "Unwin", "Varga", "Wexford", "Yates",
	},
	"person": {"{first} {last}"},
	"day":    {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"},
	"month":  {"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"},
	"date":   {"{1..28} {month}", "{month} {1..28}", "the first {day} of {month}"},
	"when": {
		"on {day} night", "early on {day}", "before dawn on {day}", "late in {month}", "by {month}", "after {2..9} weeks of {trouble}",
		"within {2..11} days", "at noon on {day}", "in the {ordinal} week of {month}",
	},
	"ordinal": {"first", "second", "third", "fourth"},
	"trouble": {"rain", "argument", "delay", "silence", "repairs", "negotiation", "heat", "frost", "rumour"},
	"place": {
		"the old {building}", "the {colour} {building}", "the {building} in {town}", "{town} {building}", "a~ {building} near {town}",
		"the {building} by the {river}",
	},
	"building": {
		"library", "granary", "town hall", "chapel", "ferry house", "school", "mill", "observatory", "brewery", "market hall",
		"lighthouse", "station", "museum", "boathouse", "theatre",
	},
	"colour": {"red", "grey", "white", "ochre", "green", "blue", "black", "yellow"},
	"adj": {
		"narrow", "costly", "unexpected", "modest", "ambitious", "ancient", "quiet", "stubborn", "remarkable", "uneven", "popular",
		"shallow", "crowded", "forgotten", "sturdy", "elegant", "hasty", "thorough",
	},
	"group": {
		"residents", "anglers", "teachers", "shopkeepers", "engineers", "volunteers", "farmers", "commuters", "students", "sailors",
		"gardeners", "musicians", "surveyors", "nurses",
	},
	"say":   {"said", "insisted", "conceded", "explained", "remarked", "warned", "argued", "recalled"},
	"money": {"{2..90} thousand crowns", "{2..40} million crowns", "some {3..95} marks a head", "more than {120..980} guilders"},
	"share": {"a third", "a quarter", "nearly half", "{11..89} per cent", "most", "hardly {2..9} in a hundred", "{2..7} out of ten"},
	"bird":  {"heron", "curlew", "wagtail", "siskin", "plover", "nightjar", "shrike", "dunlin", "wryneck", "crake", "petrel", "avocet"},
	"food":  {"beetle larvae", "berries", "small fish", "grass seed", "snails", "mayflies", "shore crabs", "acorns", "spiders", "moss"},
	"wood":  {"pear", "walnut", "cherry", "spruce", "maple", "ash", "yew", "boxwood", "elm"},
	"music": {"fiddle", "reed pipe", "zither", "hurdy-gurdy", "lute", "kettle drum", "psaltery", "bagpipe", "hand bell", "cornett"},
	"goods": {"barley", "copper wire", "salt cod", "window glass", "tea", "wool", "roof tiles", "paper", "soap", "timber", "candles", "rope"},
	"team":  {"{town} Rovers", "{town} United", "{town} Athletic", "{town} Wanderers"},
	"body":  {"comet", "asteroid", "double star", "moon", "meteor shower", "ring", "nebula"},
	"tool":  {"a borrowed telescope", "a~ {adj} spectrograph", "three small cameras", "a sounding line", "old tide tables", "a~ {adj} balance"},
	"verb":  {"repair", "replace", "paint", "close", "widen", "sell", "survey", "rename", "flood", "light", "measure", "fence"},
	"thing": {
		"{wood} bridge", "sea wall", "tram line", "bell tower", "footpath", "weather mast", "weir", "bandstand", "lock gate", "slipway",
		"orchard", "bus shelter", "reading room", "clock",
	},
	"reason": {
		"the {thing} had sunk by {2..40} centimetres", "{share} of the {group} had asked for it", "{goods} had become too dear",
		"the {river} keeps rising", "nobody could find the {adj} plans of {1701..1989}", "the {thing} stands on {adj} ground",
		"a~ {bird} was nesting there", "winter came early to {town}", "the money from {town} never arrived",
	},
}

// topic is a kind of text: how it may begin, what may follow in any order, how
// it may end.
type topic struct {
	titles               []string
	opening, body, close []string
}

var topics = []topic{
	{
		titles: []string{"{Town} to {verb} its {Thing}", "{group} split over {Thing}", "Vote on {Town} {Thing} due in {month}"},
		opening: []string{
			"{Town} council voted {when} to {verb} the {Thing}, {person} announced.",
			"Plans to {verb} the {Thing} in {Town} were {adj} news to {group} who met at {place} {when}.",
			"After {2..19} hours of debate, {Town} will {verb} its {Thing} {when}.",
		},
		body: []string{
			"The work is to cost {money} and should end {when}.",
			"{Person}, who speaks for the {group}, {say} that {reason}.",
			"\"We have waited {2..30} years,\" {say} {person}, one of the {group}.",
			"{share} of the {group} in {town} signed a~ {adj} petition against it.",
			"A~ {adj} report by {person} had found that {reason}.",
			"Until then, {group} must go round by {place}, {2..14} kilometres further.",
			"The {Thing} was built in {1790..1975} by {person}, a~ {adj} builder from {town}.",
			"In {month} the {group} of {town} had tried to {verb} a~ {thing} of their own.",
			"{2..16} members voted for it, {2..9} against; {person} left {place} before the count.",
			"A second {thing}, near the {river}, is to be kept because {reason}.",
			"Critics such as {person} {say} that {money} would be better spent on {goods}.",
			"Traffic to {place} fell by {share} while {group} worked on the {thing}.",
			"{person} promised {adj} lamps, {adj} railings and {goods} from {town}.",
		},
		close: []string{
			"The next meeting is at {place} on {date}.", "Objections may be left at {place} until {date}.",
			"No one from {town} would comment {when}.", "{person} hopes to open it on {date}.",
		},
	},
	{
		titles: []string{"{Team} hold on against {team}", "Late goal sinks {team}", "{Person} the hero as {Team} win"},
		opening: []string{
			"{Team} beat {team} {2..6} to {0..1} {when} in front of {210..9800} {group}.",
			"A goal by {Person} {when} gave {Team} a~ {adj} win over {team}.",
			"It took {Team} only {2..44} minutes to find a way past {team} {when}.",
		},
		body: []string{
			"{Person} scored from {8..38} metres after {person} lost the ball near the {ordinal} post.",
			"The pitch by {place} was {adj} after {trouble}, and {share} of the passes went astray.",
			"{person}, back from {town}, hit the bar {2..4} times.",
			"Keeper {person} saved {2..11} shots, the best of them from {person} in minute {46..90}.",
			"\"We were {adj} and then {adj},\" {say} trainer {person}.",
			"{team} had won {share} of their matches since {month}.",
			"For the {ordinal} time this year {person} was sent off, this time for a~ {adj} tackle on {person}.",
			"Supporters from {town} sang until {person} put the lights out.",
			"The referee, {person}, stopped play when a~ {bird} landed in the {colour} goal.",
			"In the {ordinal} quarter of an hour {Person} and {person} changed wings, which confused {team}.",
			"A~ {adj} free kick from {person} went over the {thing} behind the stand.",
			"{Team} trained all {month} at {place}, because {reason}.",
		},
		close: []string{
			"{Team} now travel to {town} on {date}.", "The return match is set for {date}.",
			"{person} will miss the next {2..5} games.", "Tickets cost {2..19} marks at {place}.",
		},
	},
	{
		titles: []string{"{Colour} {Bird}", "The {Bird}s of the {River}", "{Bird} of {Town}"},
		opening: []string{
			"The {Colour} {Bird} is a~ {adj} bird of the {River} valley, {12..64} centimetres long.",
			"Few birds of {Town} are as {adj} as the {Colour} {Bird}, first described in {1740..1930} by {person}.",
			"The {Colour} {Bird} breeds between {town} and the {River}, mostly on {adj} meadows.",
		},
		body: []string{
			"It feeds on {food} and, when {trouble} sets in, on {food}.",
			"The back is {colour}, the breast {colour} with {adj} {colour} bars.",
			"In {month} it lays {2..9} {colour} eggs in {place} or under a~ {thing}.",
			"Its call, a~ {adj} whistle, can be heard from {town} to {town} in {month}.",
			"Counts by {group} found {20..900} pairs in {1950..2019}, {share} of them near {town}.",
			"{person} showed with {tool} that the young leave after {11..60} days.",
			"Cold springs cost {share} of the broods; {food} are then scarce along the {river}.",
			"The {bird}, with which it is often confused, has {colour} legs and a~ {adj} flight.",
			"Ringed birds have been seen as far away as {town}, {90..2400} kilometres to the south.",
			"In {town} {group} put out {food} for it every {month}.",
			"The name appears in a~ {adj} song about the {thing} of {town}.",
			"It sleeps in reeds, in {place}, even on a~ {thing}, never alone.",
		},
		close: []string{
			"Since {1920..1999} it has been protected around {town}.", "Its numbers have {adj} prospects, {person} believes.",
			"A stuffed {bird} in {place} was long mistaken for it.", "Shooting one costs {money}.",
		},
	},
	{
		titles: []string{"{Town} {Music}", "How a~ {Music} is made", "The {Music} makers of {Town}"},
		opening: []string{
			"The {Town} {Music} is an instrument of {wood} and {wood}, made since {1590..1880} by {group} along the {river}.",
			"A~ {Music} from {Town} can be told by its {colour} varnish and {adj} neck.",
			"Nobody plays the {Town} {Music} as well as {Person}, whose {group} come from {town}.",
		},
		body: []string{
			"The body is cut from {wood} that has dried for {2..40} years at {place}.",
			"{2..12} strings of {goods} run over a~ {adj} bridge of {wood}.",
			"{Person} learned the trade from {person} in {town} and left {when}.",
			"Its range is {adj}: {2..4} octaves, the {ordinal} of them shared with the {music}.",
			"At weddings in {town} it is joined by a~ {music} and a~ {adj} {music}.",
			"A~ {adj} treatise of {1610..1890} calls it the {colour} {bird} of instruments.",
			"Strings are tuned in {adj} fourths, though {group} near {town} prefer fifths.",
			"{person} measured {20..300} of them with {tool} and found {share} out of true.",
			"Glue is boiled from {goods}, a secret that {person} sold for {money}.",
			"During the {trouble} of {1801..1945} most were burnt or traded for {goods}.",
			"A maker needs {3..15} months for one and asks {money}.",
			"The oldest, signed {person}, hangs in {place} beside a~ {thing} model.",
		},
		close: []string{
			"Courses start at {place} on {date}.", "{2..30} makers are left in {town}.",
			"Its sound, {person} wrote, is that of a~ {adj} {bird}.", "Every {month} a fair is held by the {river}.",
		},
	},
	{
		titles: []string{"Price of {Goods} climbs in {Town}", "{Goods} scarce after {trouble}", "{Town} ships more {Goods}"},
		opening: []string{
			"{Goods} rose by {share} in {Town} {when}, the most {adj} jump since {1960..2015}.",
			"Merchants at {Town} paid {money} for {Goods} {when}, because {reason}.",
			"{Person} and partners, dealers in {Goods}, will open {place} {when}.",
		},
		body: []string{
			"{Person}, a broker, {say} that {group} were holding back {share} of their stock.",
			"Barges on the {river} carried {200..9500} tons of {goods} in {month}, {share} less than planned.",
			"{goods} and {goods} stayed {adj}, while {goods} lost {2..19} points.",
			"A warehouse of {person} in {town} burnt down {when} with {money} of {goods}.",
			"The {adj} harvest around {town} is blamed, and so is {trouble}.",
			"\"It is {adj}, but not {adj},\" {person} {say} at {place}.",
			"Wages at {place} went up by {share} after {group} struck for {2..20} days.",
			"Duty on {goods} from {town} will be halved on {date}.",
			"{person} bought {30..700} crates of {goods} and sold them {when} at a~ {adj} profit.",
			"Insurance for the {adj} passage past {town} now costs {money}.",
			"Analysts at {place} expect {share} of the {goods} to be gone by {month}.",
			"Smaller shops in {town} have turned to {goods}, which {group} distrust.",
		},
		close: []string{
			"The exchange reopens on {date}.", "{person} expects {adj} prices until {month}.",
			"A~ {adj} shipment is due from {town} on {date}.", "Figures for {month} follow on {date}.",
		},
	},
	{
		titles: []string{"{Town} observers find a~ {Body}", "The {Body} of {1650..1950}", "{Person} and the {Body}"},
		opening: []string{
			"A~ {Body} found {when} from {Town} passes {2..90} million kilometres from us.",
			"{Person} of {Town} was the first to see the {Body}, with {tool}, on {date}.",
			"With {tool} and {2..40} {adj} nights, {group} in {Town} have weighed a~ {Body}.",
		},
		body: []string{
			"It turns once in {2..70} hours and reflects {share} of the light.",
			"Its tail, {colour} at first and then {colour}, spanned {2..60} degrees by {month}.",
			"{Person} {say} it could be a~ {adj} fragment of a~ {body} seen in {1680..1910}.",
			"Spectra taken at {place} show {adj} lines of sodium and {adj} traces of water.",
			"{person} in {town} had missed it {2..5} times because {reason}.",
			"The orbit, computed by {person} with {tool}, closes every {3..700} years.",
			"Clouds over {town} ended the series {when}.",
			"{group} from {town} brought {goods}, blankets and {tool} to {place}.",
			"Seen from {town} it rises {2..50} minutes after the {colour} star beside it.",
			"{share} of its surface is {adj}; the rest is {colour} dust.",
			"A~ {adj} paper by {person} puts its age at {2..90} million years.",
			"The name, proposed {when}, honours {person}, who ground {wood} frames for lenses.",
		},
		close: []string{
			"It returns in {2031..2290}.", "{place} stays open every {day} for those who want to look.",
			"A second {body} is to be examined by {month}.", "{person} asks for drawings made before {date}.",
		},
	},
}
