import type { ScriptLanguage } from './script-language.ts'

export const de: ScriptLanguage = {
  empty:
    'ein eine einen einem einer der die das den dem des dieser diese dieses es ich mich mir mein meine wir uns unser unsere du dich dir dein ' +
    'sie ihnen ihr ihre er ihn ihm sein seine ist sind war waren bin bist wird werden kann können könnte könnten muss müssen soll sollen möchte ' +
    'möchten haben hat habe hatte von im am in an auf für mit bei über zu zum zur und oder aber wenn so als dann denn hier was welche ' +
    'welcher wer wie wann bitte sagen wissen brauche brauchen gibt geben auch nur sehr nicht ja nein kein keine hallo guten tag okay also ' +
    'jetzt etwas man um bis vom noch mal gern gerne',
  alike: [
    'offen geöffnet öffnen öffnet öffnungszeiten geschlossen schließen schließt uhrzeit wann',
    'preis kostet kosten gebühr teuer billig bezahlen euro',
    'wo adresse anschrift ort finde finden straße liegt',
    'telefon telefonnummer nummer anrufen erreichen',
    'mail email',
    'buchen buchung reservieren reservierung',
    'name heißt heißen',
    'parken parkplatz parkplätze',
    'hund hunde haustier haustiere',
  ],
  endings: [/(?:en|er|es|e|n|s)$/],
  labels: { question: 'f|frage|anrufer', answer: 'antwort|agent', greeting: 'begrüßung|begrüße mit' },
  orders:
    'du bist|du|dein|deine|sie sind der|sie sind die|sie sind ein|sie sind eine|immer|niemals|nie|sei|seien sie|sprich|sprechen sie|antworte|antworten sie|wenn|falls|frage|fragen sie|begrüße|begrüßen sie|hilf|helfen sie|bitte|vermeide|nutze|biete',
  triggers: {
    whoAreYou:
      /\bwer (?:bist du|sind sie)\b|\b(?:dein|ihr) name\b|\b(?:bist du|sind sie) (?:ein(?:e)? )?(?:ki|bot|modell|mensch|roboter)/i,
    hello: /^(?:hallo|hi|guten (?:morgen|tag|abend)|grüß gott|moin|servus)(?!\p{L})/iu,
    whatCanYouDo: /\bwas (?:kannst du|können sie)\b/i,
    thanks: /\b(?:danke|dankeschön|vielen dank)\b/i,
    goodbye: /\b(?:auf wieder(?:hören|sehen|schauen)|tschüss|tschüs|ciao)\b/i,
    stop: /^(?:nein,? )?(?:bitte )?(?:stopp?|warten sie|warte|moment|einen moment|schon gut|ruhe)(?!\p{L})/iu,
    again:
      /^\W*(?:entschuldigung\W+)?(?:wie bitte|was haben sie gesagt|was hast du gesagt|(?:bitte |können sie |kannst du )?(?:das )?(?:bitte )?(?:noch (?:ein)?mal|wiederholen)(?: (?:sagen|wiederholen))?)(?:,? bitte)?\W*$/iu,
    echo: /^(?:bitte )?(?:sag(?:en sie)?|wiederhol(?:e|en sie))\b(?! (?:das|uns|mal|mir(?! nach))\b)[\s:,]*(?:mir nach[\s:,]*)?(?=\S|$)/i,
    leaves:
      /\b(?:auf wieder(?:hören|sehen)|tschüss?|auflegen|das (?:ist|war|wäre) alles|sonst nichts|(?:anruf|gespräch) beenden)\b/i,
    wantsCallback:
      /\b(?:rufen sie|ruf) (?:mich|uns)(?: [^.!?]{0,60})? (?:zurück|wieder an|noch einmal an)|\brückruf\b|\bzurückrufen\b/i,
    calculation:
      /(?<a>-?\d+(?:[.,]\d+)?)\s*(?<operator>\+|-|\*|\/|plus|minus|mal|geteilt durch)\s*(?<b>-?\d+(?:[.,]\d+)?)/i,
  },
  decimalMark: ',',
  numbers: 'null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf',
  day: /(?<!\p{L})(?<!guten )(?:heute|morgen|übermorgen|(?:nächsten |diesen |am )?(?:mon|diens|donners|frei|sams|sonn)tag|(?:nächsten |diesen |am )?mittwoch)(?!\p{L})/iu,
  ownName: 'mein name ist|ich heiße|ich bin|hier ist|name',
  operators: { '+': ['plus'], '-': ['minus'], '*': ['mal'], '/': ['geteilt durch'] },
  says: {
    introduction: 'Ich bin der regelbasierte Ersatz von Parley, kein Sprachmodell',
    hello: 'Hallo!',
    askToRepeat: 'Bitten Sie mich, etwas zu wiederholen.',
    abilities:
      'Ich wiederhole, ich rechne, und ich rufe die Werkzeuge auf, die Sie nennen. Für echte Antworten setzen Sie einen Schlüssel wie OPENAI_API_KEY.',
    welcome: 'Gern geschehen.',
    goodbye: 'Auf Wiederhören.',
    allRight: 'In Ordnung.',
    stillThere: 'Sind Sie noch da?',
    sayAgain: 'Entschuldigung, das habe ich nicht verstanden. Können Sie das noch einmal sagen?',
    notConnected: 'Es tut mir leid, ich konnte Sie nicht verbinden. Wie kann ich Ihnen sonst helfen?',
    notConnectedTakesMessage:
      'Es tut mir leid, ich konnte Sie nicht verbinden. Möchten Sie eine Nachricht hinterlassen?',
    noAnswer: 'und mein Auftrag enthält darauf keine Antwort.',
    noRule: 'und dafür habe ich keine Regel. Richten Sie ein Sprachmodell ein, um echte Antworten zu erhalten.',
    youSaid: 'Sie sagten:',
    toolAnswered: 'Das Werkzeug hat geantwortet:',
    toolFailed: 'Das Werkzeug ist gescheitert:',
    done: 'erledigt.',
    is: 'ist',
    isEmpty: 'ist leer',
    has: 'hat',
    hasMore: 'hat mehr',
    nothing: 'nichts',
    and: 'und',
    entry: 'Eintrag',
    entries: 'Einträge',
  },
}
