"""The words, sentences, lines of code and paths that sessions are made of."""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from random import Random

COMMON = """
    the of and to in is that for it as with on be this by are or an from at not you have
    can we if has will was one all would there their what so up out when them some could
    into then now only its over also after use two how our work first well way even new
    want because any these give most us file function code error test value type return
    class import module data list string number path name key index line call run build
    change fix add remove update read write check make need should does let look see user
    server client request response query table column row field schema parser token
    session message message agent tool model output input config option default version
    branch commit merge review issue bug feature release cache memory thread process lock
    queue event handler callback promise async await stream buffer socket port host http
    json yaml toml sqlite database storage directory folder script shell command argument
    flag environment variable package dependency install upgrade python typescript rust go
    java kotlin swift react component hook state render layout style button form page route
    endpoint service layer domain entity repository factory builder adapter proxy wrapper
    decorator iterator generator loop branch condition assertion exception traceback stack
    frame debug log metric trace span latency throughput benchmark profile sample ratio
    limit timeout retry backoff schedule worker pool batch chunk page cursor offset limit
    search rank score filter sort group count sum average median percentile histogram graph
    tree node edge vertex path cycle root leaf depth breadth hash digest checksum signature
"""
SYLLABLES = """
    ba be bi bo bu ca ce ci co cu da de di do du fa fe fi fo fu ga ge gi go gu ha he hi ho
    la le li lo lu ma me mi mo mu na ne ni no nu pa pe pi po pu ra re ri ro ru sa se si so
    ta te ti to tu va ve vi vo za ze zi zo tra tre tri pro pre con com sub ter ver per der
    ing ion ate ent ant ist ous ive ble ment ness ship
"""
SUFFIXES = (".py", ".ts", ".tsx", ".go", ".rs", ".md", ".json", ".java")
NEEDLE_CHARACTERS = frozenset("龘靈麤麟密鑰")
"""Chinese characters that only needles hold."""

WORDS = 50_000
IDENTIFIERS = 12_000
PATHS = 6_000
SENTENCES = 30_000
CODE_LINES = 30_000
CHINESE_CHARACTERS = 2_600
CHINESE_WORDS = 14_000
CHINESE_SENTENCES = 12_000


class Vocabulary:
    """Pools of text over words of which few are common and most are rare; the same in every process."""

    def __init__(self, seed: int) -> None:
        random = Random(f"text:{seed}")
        self.words = _words(random)
        self.cumulative_weights = _falling(WORDS, 2.7, 1.07)
        self.identifiers = [_identifier(random, self.words[:6000]) for _ in range(IDENTIFIERS)]
        folders = self.words[:800]
        self.paths = [_path(random, folders, self.identifiers) for _ in range(PATHS)]
        self._sentences = [self._sentence(random) for _ in range(SENTENCES)]
        self._code = [self._code_line(random) for _ in range(CODE_LINES)]
        self._chinese = _chinese_sentences(random)

    def chinese(self, random: Random) -> str:
        """A sentence of Chinese characters."""
        return self._chinese[random.randrange(CHINESE_SENTENCES)]

    def prose(self, random: Random, size: int, chinese: float) -> str:
        """So many characters of sentences, a share of them Chinese."""
        said: list[str] = []
        done, chance = 0, random.random
        while done < size:
            if chinese and chance() < chinese:
                sentence = self._chinese[int(chance() * CHINESE_SENTENCES)]
            elif chance() < 0.15:
                sentence = self._sentence(random)
            else:
                sentence = self._sentences[int(chance() * SENTENCES)]
            said.append(sentence)
            done += len(sentence) + 1
            if chance() < 0.12:
                said.append("\n\n" if chance() < 0.7 else "\n- ")
        return " ".join(said).replace(" \n", "\n").replace("\n ", "\n")

    def code(self, random: Random, size: int) -> str:
        """So many characters of code and of what programs print."""
        lines: list[str] = []
        done = 0
        while done < size:
            line = self._printed(random)
            lines.append(line)
            done += len(line) + 1
        return "\n".join(lines)

    def _printed(self, random: Random) -> str:
        chance = random.random
        which = chance()
        if which < 0.05:
            return self._code_line(random)
        if which < 0.08:
            day = f"2026-0{int(chance() * 8) + 1}-1{int(chance() * 9)}"
            number = f"{random.getrandbits(48):012x}"
            return f"{day} INFO  [{number}] {self._code[int(chance() * CODE_LINES)].strip()}"
        return self._code[int(chance() * CODE_LINES)]

    def _sentence(self, random: Random) -> str:
        words = random.choices(self.words, cum_weights=self.cumulative_weights, k=random.randint(5, 22))
        if random.random() < 0.25:
            words[random.randrange(len(words))] = f"`{random.choice(self.identifiers)}`"
        if random.random() < 0.08:
            words[random.randrange(len(words))] = f"`{random.choice(self.paths)}`"
        sentence = " ".join(words)
        return sentence[:1].upper() + sentence[1:] + random.choice((".", ".", ".", ".", ":", "?", ";"))

    def _code_line(self, random: Random) -> str:
        kind = random.randrange(12)
        indent = "    " * random.choice((0, 1, 1, 2, 2, 3))
        a, b, c = random.choices(self.identifiers, k=3)
        match kind:
            case 0:
                return f"{indent}def {a}(self, {b}: str, {c}: int = {random.randrange(99)}) -> None:"
            case 1:
                word, option = random.choice(self.words), random.choice(self.identifiers)
                return f'{indent}const {a} = await {b}.{c}("{word}", {{ {option}: true }});'
            case 2:
                return f"{indent}if {a} is None or {b} >= {random.randrange(1000)}:"
            case 3:
                return f'{indent}return {a}.get("{b}", {c})'
            case 4:
                return f"{indent}# {self._sentence(random)}"
            case 5:
                return f"import {a.lower()} from '../{random.choice(self.paths)}';"
            case 6:
                return f'{indent}logger.info("{random.choice(self.words)} %s -> %d", {a}, {b})'
            case 7:
                return f"{indent}{a}[{b}] = {c}({random.randrange(9999)})"
            case 8:
                return f'\t"{a}": "{b}",'
            case 9:
                return f"{indent}}} else if ({a} !== {b} && !{c}) {{"
            case 10:
                return ""
            case _:
                return f"{random.choice(self.paths)}:{random.randrange(1, 2000)}: {a} = {b}"


@cache
def vocabulary_of(seed: int) -> Vocabulary:
    """The vocabulary of homes with this seed; making one takes a second."""
    return Vocabulary(seed)


def _falling(count: int, shift: float, power: float = 1.0) -> list[float]:
    """Cumulative weights by rank, as Zipf found them: the first is the most common."""
    return list(accumulate(1.0 / (rank + shift) ** power for rank in range(count)))


def _words(random: Random) -> list[str]:
    words = dict.fromkeys(COMMON.split())
    syllables = SYLLABLES.split()
    while len(words) < WORDS:
        words.setdefault("".join(random.choices(syllables, k=random.choice((2, 3, 3, 4, 4, 5)))))
    return list(words)


def _identifier(random: Random, words: list[str]) -> str:
    chosen = random.choices(words, k=random.choice((1, 2, 2, 3)))
    if random.random() < 0.6:
        return "_".join(chosen)
    return chosen[0] + "".join(word.title() for word in chosen[1:])


def _path(random: Random, folders: list[str], names: list[str]) -> str:
    folder = "/".join(random.choices(folders, k=random.choice((1, 2, 3))))
    return f"{folder}/{random.choice(names)}{random.choice(SUFFIXES)}"


def _chinese_sentences(random: Random) -> list[str]:
    every = (chr(0x4E00 + (number * 7) % 20000) for number in range(CHINESE_CHARACTERS))
    characters = [character for character in every if character not in NEEDLE_CHARACTERS]
    weights = _falling(len(characters), 8.0)
    words = [
        "".join(random.choices(characters, cum_weights=weights, k=random.choice((1, 2, 2, 2, 3, 4))))
        for _ in range(CHINESE_WORDS)
    ]
    weights = _falling(CHINESE_WORDS, 4.0)
    return [
        "".join(random.choices(words, cum_weights=weights, k=random.randint(4, 14)))
        + random.choice(("。", "，", "？"))
        for _ in range(CHINESE_SENTENCES)
    ]
