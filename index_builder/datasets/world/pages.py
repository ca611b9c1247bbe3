"""Turns the facts of one entity into an encyclopaedia-like passage.

The tables here are public data: a reader who knows them can take every fact back out of the text.
``{subject}`` is the page's own entity, written as its name without the parenthesis of a title, or
as one of ``PRONOUNS``; ``{object}`` is a full title (parenthesis included) or a literal. Each
sentence of a page comes from one template. Turned into anchored regular expressions, with ``.+``
for the slots, the templates of ``RELATIONS`` match the sentences of their own relation and no others.
"""

from collections.abc import Mapping

RELATIONS: Mapping[str, tuple[str, ...]] = {
    "date_of_birth": (
        "{subject} was born on {object}.",
        "{subject} came into the world on {object}.",
        "The birth of {subject} was recorded on {object}.",
    ),
    "place_of_birth": (
        "{subject} was born in {object}.",
        "{subject} was a native of {object}.",
        "The birthplace of {subject} was {object}.",
    ),
    "father": (
        "The father of {subject} was {object}.",
        "{object} was the father of {subject}.",
        "{subject} had {object} for a father.",
    ),
    "mother": (
        "The mother of {subject} was {object}.",
        "{object} was the mother of {subject}.",
        "{subject} had {object} for a mother.",
    ),
    "spouse": (
        "{subject} was married to {object}.",
        "{object} was the spouse of {subject}.",
        "A quiet wedding joined {subject} and {object}.",
    ),
    "employer": (
        "{subject} worked for {object}.",
        "{subject} drew a salary from {object}.",
        "{object} was the employer of {subject}.",
    ),
    "team": (
        "{subject} competed for {object}.",
        "{subject} wore the colours of {object}.",
        "{object} had {subject} on its roster.",
    ),
    "director": (
        "{subject} was directed by {object}.",
        "{object} was the director of {subject}.",
        "The director of {subject} was {object}.",
    ),
    "publication_year": (
        "{subject} was released in {object}.",
        "{subject} reached cinemas in {object}.",
        "Audiences first saw {subject} in {object}.",
    ),
    "production_company": (
        "{subject} was produced by {object}.",
        "{object} was the producer of {subject}.",
        "The production of {subject} was in the hands of {object}.",
    ),
    "award_received": (
        "{subject} won the {object}.",
        "{subject} was honoured with the {object}.",
        "A jury gave the {object} to {subject}.",
    ),
    "country": (
        "{subject} lies in {object}.",
        "{subject} belongs to {object}.",
        "The country around {subject} is {object}.",
    ),
    "mayor": (
        "The mayor of {subject} is {object}.",
        "{subject} has {object} as its mayor.",
        "{object} serves as mayor of {subject}.",
    ),
    "population": (
        "{subject} has {object} inhabitants.",
        "The population of {subject} is {object}.",
        "A total of {object} people live in {subject}.",
    ),
    "inception": (
        "{subject} was established in {object}.",
        "{subject} came into being in {object}.",
        "The history of {subject} begins in {object}.",
    ),
    "founder": (
        "{subject} was founded by {object}.",
        "{object} was the founder of {subject}.",
        "The founder of {subject} was {object}.",
    ),
    "headquarters": (
        "{subject} is based in {object}.",
        "{subject} has its headquarters in {object}.",
        "The head office of {subject} is in {object}.",
    ),
    "chief_executive": (
        "{subject} is run by {object}.",
        "The chief executive of {subject} is {object}.",
        "{object} leads {subject} as chief executive.",
    ),
    "home_town": (
        "{subject} plays its home matches in {object}.",
        "{subject} represents {object}.",
        "The home ground of {subject} is in {object}.",
    ),
    "coach": (
        "{subject} is coached by {object}.",
        "The coach of {subject} is {object}.",
        "{object} trains {subject} as head coach.",
    ),
    "sponsor": (
        "{subject} is sponsored by {object}.",
        "The sponsor of {subject} is {object}.",
        "{object} pays for the kit of {subject} as sponsor.",
    ),
    "named_after": (
        "{subject} is named after {object}.",
        "{subject} takes its name from {object}.",
        "The name of {subject} honours {object}.",
    ),
    "presented_in": (
        "{subject} is presented in {object}.",
        "{subject} is handed out each spring in {object}.",
        "The ceremony of {subject} is held in {object}.",
    ),
    "funder": (
        "{subject} is funded by {object}.",
        "The funds of {subject} come from {object}.",
        "{object} pays the prize money of {subject}.",
    ),
}
"""Relation to the sentences that state it."""

DECOYS: Mapping[str, tuple[str, ...]] = {
    "date_of_birth": (
        "A baptism of {subject} is entered under {object}.",
        "One almanac misprints the birthday as {object}.",
    ),
    "place_of_birth": (
        "{subject} spent most of a long life in {object}.",
        "A street in {object} bears the name of {subject}.",
    ),
    "father": (
        "{object} stood as guardian of {subject} for some years.",
        "{subject} shared a house with an uncle, {object}.",
    ),
    "mother": (
        "{object}, an aunt, paid for the schooling of {subject}.",
        "{subject} was brought up partly by a neighbour, {object}.",
    ),
    "spouse": (
        "{subject} was once engaged to {object}, without a wedding.",
        "{object} and {subject} exchanged letters for years.",
    ),
    "employer": (
        "{subject} had been an apprentice at {object} for one winter.",
        "An offer from {object} was refused by {subject}.",
    ),
    "team": (
        "{subject} had a trial with {object} and was not signed.",
        "{subject} once played a friendly match against {object}.",
    ),
    "director": (
        "{object} was first asked to direct and declined.",
        "{object} wrote the screenplay of {subject}.",
    ),
    "publication_year": (
        "The shooting of {subject} had begun in {object}.",
        "A restored print of {subject} followed in {object}.",
    ),
    "production_company": (
        "{object} had owned the script before selling it.",
        "{object} distributed {subject} abroad.",
    ),
    "award_received": (
        "{subject} was nominated for the {object} without success.",
        "Another film took the {object} that season.",
    ),
    "country": (
        "Most exports of {subject} go to {object}.",
        "Settlers from {object} once lived in {subject}.",
    ),
    "mayor": (
        "{object} ran for the office of mayor and lost.",
        "{object} is an honorary citizen of {subject}.",
    ),
    "population": (
        "An old census had counted {object} households.",
        "About {object} visitors come to {subject} in a good summer.",
    ),
    "inception": (
        "Plans for {subject} had been drawn up in {object}.",
        "The present statutes of {subject} date from {object}.",
    ),
    "founder": (
        "{object} lent {subject} its first capital.",
        "{object} wrote a history of {subject}.",
    ),
    "headquarters": (
        "The first workshop of {subject} stood in {object}.",
        "{subject} keeps a warehouse in {object}.",
    ),
    "chief_executive": (
        "{object} turned down the top post at {subject}.",
        "{object} sits on the board of {subject}.",
    ),
    "home_town": (
        "{subject} spent its first season in {object}.",
        "A training camp of {subject} is held in {object}.",
    ),
    "coach": (
        "{object} looks after the youth side of {subject}.",
        "{object} had been a candidate to train {subject}.",
    ),
    "sponsor": (
        "{object} had backed {subject} in earlier seasons.",
        "{object} sells the tickets of {subject}.",
    ),
    "named_after": (
        "{object} designed the trophy of {subject}.",
        "{object} was the first to receive {subject}.",
    ),
    "presented_in": (
        "The jury of {subject} meets in {object}.",
        "An exhibition on {subject} toured {object}.",
    ),
    "funder": (
        "{object} prints the posters of {subject}.",
        "{object} had offered money to {subject} in vain.",
    ),
}
"""Relation to sentences that name something of the same type and do not state the relation."""

PRONOUNS: Mapping[str, tuple[str, ...]] = {
    "person": ("He", "She"),
    "film": ("The film", "This picture"),
    "town": ("The town", "This place"),
    "company": ("The company", "The firm"),
    "team": ("The team", "The club"),
    "award": ("The award", "This honour"),
}
"""Kind to what may stand for ``{subject}`` where a sentence begins with it."""

INTROS: Mapping[str, tuple[str, ...]] = {
    "person": (
        "{subject} was {detail} of patient habits.",
        "{subject} is remembered as {detail}.",
        "{subject}, {detail}, left behind three notebooks.",
        "Few local guides fail to mention {subject}, {detail}.",
    ),
    "film": (
        "{subject} is {detail} in black and white.",
        "{subject} is {detail} told in seven chapters.",
        "Critics still argue over {subject}, {detail}.",
        "{subject}, {detail}, runs for just under two hours.",
    ),
    "town": (
        "{subject} is a market town in the {detail}.",
        "{subject} grew up around a ferry dock in the {detail}.",
        "Travellers through the {detail} rarely miss {subject}.",
        "{subject}, a town in the {detail}, has narrow streets.",
    ),
    "company": (
        "{subject} is a company in the {detail} trade.",
        "{subject} made its fortune in the {detail} business.",
        "Few firms in the {detail} trade are as old as {subject}.",
        "{subject}, a {detail} company, keeps its own archive.",
    ),
    "team": (
        "{subject} is a {detail} team with loyal followers.",
        "{subject} is known for a cautious style of {detail}.",
        "Among the clubs devoted to {detail}, {subject} is a stubborn one.",
        "{subject}, a {detail} team, plays in striped shirts.",
    ),
    "award": (
        "{subject} is an award for {detail}.",
        "{subject} rewards quiet merit in {detail}.",
        "No prize for {detail} is as contested as {subject}.",
        "{subject}, an award for {detail}, comes with a small sum.",
    ),
}
"""Kind to first sentences; ``{detail}`` is what the entity is or does (persons, films: with an article)."""

FILLERS: Mapping[str, tuple[str, ...]] = {
    "person": (
        "Letters by {subject} fill two drawers of the county archive.",
        "Neighbours described a careful talker with a loud laugh.",
        "A bronze bust of {subject} was stolen and found again.",
        "{subject} kept bees and disliked long journeys.",
        "Later biographers quarrelled over nearly every anecdote.",
        "Most of the surviving papers were damaged by water.",
    ),
    "film": (
        "The long tracking shot over the bridge is much imitated.",
        "{subject} was made with a small crew and borrowed cameras.",
        "Its score relies on a single cello and a choir.",
        "Reviewers praised the lighting and mocked the ending.",
        "{subject} survives in two prints of uneven quality.",
        "The plot turns on a letter that nobody opens.",
    ),
    "town": (
        "The covered market of {subject} was lost to a fire and rebuilt.",
        "A narrow railway once linked the quarry with the river.",
        "{subject} is known for its pears and its slow trams.",
        "The old walls were pulled down to make room for a school.",
        "Visitors come for the clock tower and the salt baths.",
        "Floods have reached the lower streets more than once.",
    ),
    "company": (
        "{subject} survived a fire, a strike and two bad winters.",
        "Its catalogues are collected for their engraved plates.",
        "The workers of {subject} ran their own library.",
        "Orders from abroad soon outgrew the small workshops.",
        "{subject} never advertised and rarely lowered a price.",
        "Its trademark shows a heron above three waves.",
    ),
    "team": (
        "The supporters of {subject} sing before every match.",
        "A long unbeaten run ended in a heavy storm.",
        "{subject} has a fierce rivalry with its neighbours.",
        "Its badge shows a lighthouse and a broken oar.",
        "{subject} has been promoted twice and relegated once.",
        "The stands were built by volunteers over one summer.",
    ),
    "award": (
        "Winners receive a small bronze figure and a dinner.",
        "{subject} was suspended for two years after a quarrel.",
        "The list of past winners hangs in the entrance hall.",
        "Few winners of {subject} have been under thirty.",
        "The rules forbid anyone to be chosen twice.",
        "{subject} is decided by a secret ballot.",
    ),
}
"""Kind to sentences that state nothing anyone asks for."""
