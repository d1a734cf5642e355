"""The language that the bundled model speaks: stories about a topic, with facts and questions.

A stream of episodes of 140 to 300 tokens. Each opens with its topic; then sentences follow: new facts
("anna 's hat is red ."), questions about facts already stated ("what is anna 's hat ? red ."), and
filler from the topic's own words. Values are drawn anew in every episode, so that an answer can only be
looked up, by the pair of a name and an item; the words NAME 's ITEM <is|?> VALUE stand in the same order
in fact and question, which makes the lookup learnable.

Run as a program it writes a held-out stream: text.py SEED TOKENS > recall.txt
"""
import random
import sys

NAMES = ("anna ben carl dora emil fina gus hana ivan jana karl lena max nina otto pia quin rosa sam tina "
         "udo vera will xena yara zeno abel bela cleo dirk ella fred").split()
ITEMS = {
    "hat": "red blue green white black brown grey pink gold silver purple orange".split(),
    "pet": "cat dog bird fish horse mouse rabbit snake goat duck sheep frog".split(),
    "drink": "tea milk water juice cocoa coffee lemonade cider soda wine beer broth".split(),
    "town": "rome paris oslo lima cairo tokyo delhi quito berlin vienna lisbon dublin".split(),
    "tool": "hammer saw axe drill rake spade knife brush pliers chisel wrench file".split(),
    "fruit": "apple pear plum peach cherry grape melon lemon banana mango kiwi fig".split(),
}
TOPICS = {
    "sea": ("boat wave sand shell gull sail net harbour tide whale island rope", "sails floats drifts dives"),
    "farm": ("barn hay field cow plough fence seed tractor egg corn gate pig", "digs feeds plants mows"),
    "school": ("desk book pencil class lesson teacher chalk bell page paper bag test", "reads writes learns draws"),
    "forest": ("tree leaf moss path owl fox branch root log fern stream hill", "walks climbs hides hunts"),
    "kitchen": ("pot pan oven spoon bowl plate stove bread soup salt pepper cake", "cooks bakes stirs tastes"),
    "city": ("street bus shop tower bridge square tram lamp market park corner sign", "rides buys waits hurries"),
    "snow": ("ice sled scarf coat frost flake skate boot glove storm cabin fire", "slides freezes skates melts"),
    "music": ("song drum flute violin piano note choir stage band tune horn string", "sings plays dances hums"),
}
GLUE = ". ? 's is what the a story about and with near sees".split()
BOS = "<s>"


def vocabulary():
    words = [BOS] + GLUE + NAMES
    for item, values in ITEMS.items():
        words += [item] + values
    for topic, (nouns, verbs) in TOPICS.items():
        words += [topic] + nouns.split() + verbs.split()
    seen = []
    for word in words:
        if word not in seen:
            seen.append(word)
    return seen


def episode(rng):
    """(tokens, starts, answers): starts of sentences, and for each answer's index its fact's index."""
    topic = rng.choice(list(TOPICS))
    length = rng.randint(140, 300)
    cast = rng.sample(NAMES, rng.randint(3, 5))
    tokens, starts, answers, facts, stated = [], [0], {}, {}, []
    tokens += ["story", "about", "the", topic, "."]

    def noun_and_verb():
        own = topic if rng.random() < 0.9 else rng.choice(list(TOPICS))
        nouns, verbs = TOPICS[own]
        return rng.choice(nouns.split()), rng.choice(verbs.split())

    while len(tokens) < length:
        starts.append(len(tokens))
        kind = rng.random()
        fresh = [(n, i) for n in cast for i in ITEMS if (n, i) not in facts]
        if (kind < 0.3 or not facts) and fresh:
            name, item = rng.choice(fresh)
            value = rng.choice(ITEMS[item])
            tokens += [name, "'s", item, "is", value, "."]
            facts[name, item] = [value, len(tokens) - 2]
            stated.append((name, item))
        elif kind < 0.7 and facts:
            if rng.random() < 0.7:
                asked = min((rng.choice(stated) for _ in range(3)), key=lambda f: facts[f][1])
            else:
                asked = rng.choice(stated)
            name, item = asked
            tokens += ["what", "is", name, "'s", item, "?", facts[asked][0], "."]
            answers[len(tokens) - 2] = facts[asked][1]
            facts[asked][1] = len(tokens) - 2
        else:
            noun, verb = noun_and_verb()
            other, _ = noun_and_verb()
            who = rng.choice(cast)
            form = rng.randrange(4)
            tokens += ([who, verb, "near", "the", noun, "."], [who, "sees", "a", noun, "and", "a", other, "."],
                       ["the", noun, "is", "near", "the", other, "."], [who, verb, "with", "the", noun, "."])[form]
    return tokens, starts, answers


def stream(seed, tokens):
    """Episodes until `tokens`: (tokens, sentence starts, episode starts, answers)."""
    rng = random.Random(seed)
    out, starts, firsts, answers = [], [], [], {}
    while len(out) < tokens:
        base = len(out)
        words, its_starts, its_answers = episode(rng)
        firsts.append(base)
        starts += [base + s for s in its_starts]
        answers.update({base + a: base + f for a, f in its_answers.items()})
        out += words
    return out, starts, firsts, answers


if __name__ == "__main__":
    words, _, _, _ = stream(int(sys.argv[1]), int(sys.argv[2]))
    line = []
    for word in words[: int(sys.argv[2])]:
        line.append(word)
        if word == "." and len(line) > 12:
            print(" ".join(line))
            line = []
    print(" ".join(line))
