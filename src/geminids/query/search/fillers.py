"""Words that hold a sentence together and say nothing of what it is about, in English and German.

Who asks a question in a whole sentence does not expect these words to stand in what is found. They are left
out of a search only where all words together find nothing, or little.
"""

_ENGLISH = """
    a about after again all also always am an and another any anything are as at be because been
    before being but by can could did do does doing done during each else ever every for from get
    gets getting go goes going got had has have having he her here him his how i if in into is it
    its just kept know last let like made make many maybe me mine more most much my no not now of
    off on once one only or other our out over own please remember same see session sessions she
    should so some somehow something sometime somewhere such than that the their them then there
    these they thing things this those time to too told under until up us very was way we went were
    what whatever when where which while who whom whose why will with without would yet you your
"""
_GERMAN = """
    aber alle als am an auch auf aus bei bin da damals dann das dass dem den der des die dies diese
    dieser dir doch du durch ein eine einem einen einer eines er es etwas fuer für habe haben hat
    hatte hatten ich ihm ihn ihr im in ist ja jetzt kann können man mein meine mich mir mit nach
    nicht noch nur ob oder ohne schon sein seine sie sind so über um und uns unser vom von vor war
    waren warum was weil wenn wer wie wieder wir wird wo wurde zu zum zur
"""
FILLERS = frozenset(f"{_ENGLISH} {_GERMAN}".split())
