import { announcing } from './announcing.ts'
import type { LanguageWords } from './language-words.ts'
import { numeralTable } from './numerals.ts'

/**
 * Words that may come between an announcement such as "meine Nummer" and the number. "Mein Handy ist ein iPhone 12"
 * announces no number.
 */
const links =
  'ist|lautet|wäre|hat|und|zwar|die|der|das|den|am|meine|folgende|unter|nummer|vorwahl|plus|jetzt|steht|dann|da|äh|ähm|also|ja'

/** Recognizers join a zero with the digit after it: "nulleins". */
const zeros = Object.fromEntries(
  ['null', 'eins', 'zwei', 'drei', 'vier', 'fünf', 'sechs', 'sieben', 'acht', 'neun'].map((digit, at) => [
    `null${digit}`,
    `0${at}`,
  ]),
)

export const german: LanguageWords = {
  turns: {
    backchannels:
      'ja|jo|jap|genau|stimmt|richtig|klar|alles klar|gut|schön|super|verstehe|ich verstehe|natürlich|sicher|ach so|achso|aha|eben|in ordnung|ähm|äh|mhmm|ach|echt|sehr gut|na klar|weiter',
    unfinished:
      'und|oder|aber|denn|sondern|weil|dass|wenn|ob|obwohl|während|damit|sowie|bevor|nachdem|sobald|falls|bis|sodass|dem|den|des|einen|einem|einer|eines|keinen|keinem|mein|meinen|meinem|meiner|dein|deinen|deinem|deiner|ihren|ihrem|ihrer|unser|unserem|unseren|unserer|diesem|diesen|jeden|jedem|in|im|am|vom|zum|zur|für|von|ins|ans|beim|wegen|ohne|gegen|zwischen|seit|bezüglich|hinsichtlich|aufgrund|äh|ähm|und zwar|nämlich|sehr|ziemlich|ät|klammeraffe|ich rufe an|ich rufe an wegen|es geht um|geht um|nummer ist|nummer lautet|name ist|name lautet|adresse ist|adresse lautet|iban ist|iban lautet|buchstabiert|unterstrich|bindestrich|minus|ich heiße|mein name ist|die frage ist|frage ist|frage wäre|problem ist|anliegen ist|grund ist|das heißt|zum beispiel|beziehungsweise|entweder|weder|am liebsten|wollte fragen|wollte wissen|da ich|dass ich|weil ich|wenn ich|ob ich|und ich|aber ich|sind sie|wo ist|wann ist|was ist|was kostet|ich buchstabiere|buchstabiere|buchstabiert man|man buchstabiert|und dann|oder vielleicht|at|ich muss noch|ich hätte da|ich würde|ich könnte',
    particles:
      'mit|über|punkt|ein|bei|der|die|das|ich|wir|eine|ihr|ihre|meine|deine|seine|unsere|dieser|diese|dieses|sein|an|auf|aus|ab|zu|nach|vor|um|durch|unter|als|wie|kein|keine|welche|welcher|welches|jede|jeder|hinter|neben|außer|statt|trotz|ich glaube|ich denke|ich habe|ich muss|ich kann|es war|ich hätte|ich bin',
    openings: 'bitte|also|na ja|naja|tja',
    hesitations:
      'äh|ähm|öh|öhm|hm|hmm|hmmm|ehm|eh|moment mal|moment bitte|einen moment|einen moment bitte|kleinen moment|kleiner moment|ein moment|einen augenblick|augenblick bitte|sekunde|sekunde bitte|eine sekunde|warten sie|warten sie mal|warten sie kurz|warte mal|lassen sie mich überlegen|lassen sie mich nachdenken|lassen sie mich kurz überlegen|lassen sie mich mal überlegen|lass mich überlegen|ich überlege|ich überlege gerade|ich muss überlegen|ich muss kurz überlegen|ich muss mal überlegen|mal überlegen|mal sehen|mal schauen|mal gucken|mal nachsehen|schauen wir mal|ich schaue mal|ich schau mal|ich schaue kurz nach|ich sehe mal nach|ich muss nachsehen|ich muss kurz nachsehen|ich hole mal|wie soll ich sagen|wie sagt man|wie heißt das|wie heißt er gleich|was wollte ich sagen|wo war ich|sagen wir mal|momentchen|sekündchen|minütchen|kleinen augenblick|augenblickchen|wie war das noch|wie war das noch mal|wie war das|wie war die noch|ich denke nach|ich meine|hm also|was war das noch',
    winsTime:
      /(?:^| )(?:(?:schaue?|gucke?|sehe|überlege|suche|hole|prüfe|denke)(?: (?:ich|mal|kurz|eben|schnell|gerade|noch|da|nur|einmal))* (?:mal|kurz|eben|schnell|gerade|nach|darüber|einmal)|(?:muss ich|ich muss|lassen sie mich|lass mich)(?: \p{L}+){0,4} (?:nachsehen|nachschauen|überlegen|suchen|holen|gucken|schauen|nachdenken|sehen)|(?:kleine[ns]?|eine[ns]?|nur einen|ganz kurzen) (?:kleinen )?(?:moment|augenblick|sekunde|minute)(?: bitte)?)$/u,
    fillers: 'also|moment|na ja|naja|tja|so|halt|nun|nun ja|quasi|sozusagen|irgendwie|ja also|gut also',
    begunRequests:
      'ich möchte|ich möchte gern|ich möchte gerne|ich hätte gern|ich hätte gerne|ich würde gern|ich würde gerne|ich brauche|ich bräuchte|ich will|ich wollte|ich wollte gern|ich wollte gerne|ich suche|können sie|könnten sie|würden sie|könnte ich|kann ich|dürfte ich|darf ich|können wir|könnten wir|kannst du|könntest du|würdest du|haben sie|hätten sie|gibt es|gäbe es|wäre es möglich|ist es möglich|wissen sie|ich wüsste gern|ich wüsste gerne|können sie mir sagen|könnten sie mir sagen|ich wollte fragen|ich möchte fragen|ich wollte wissen|ich möchte wissen|ich habe eine frage zu|ich habe eine frage wegen|wie viel|wie viele|wie lange|würde es ihnen etwas ausmachen|macht es ihnen etwas aus|kann man|könnte man|sagen sie|geben sie|schicken sie|können sie das|könnten sie das|können sie es|könnten sie es|würden sie das|kann ich das|könnte ich das|ich wollte nur|ich würde gern wissen|ich würde gerne wissen|um wie viel|um wie viel uhr|wo finde ich|wann kann ich|wie kann ich|was kostet|was kosten|wann haben sie|ich muss|ich hätte da eine frage zu|ich rufe an um|ich rufe an weil',
    softeners:
      'bitte|mir|mich|uns|mal|vielleicht|kurz|eventuell|nochmal|noch|einmal|noch einmal|freundlicherweise|gern|gerne|auch|denn|schnell|ihnen|sagen|fragen|wissen|erklären|nur|ob|da|eben',
    determiners: 'mein|meine|unser|unsere|der|die|ihr|ihre|sein|seine',
    complete:
      'was ich brauche|was ich will|was ich möchte|das brauche ich|wenn sie können|wenn sie möchten|wie sie möchten|wie sie wollen|wie ich will|das wars|so ist es|weiß ich|brauche ich|ja ich will|ja ich möchte|ja kann ich|das kann ich|das darf ich|ja haben sie|das gibt es|das können sie|ja können sie|nein gibt es|das haben sie|nicht sagen|was soll ich sagen|nicht wissen|sie fragen|ich habs|was ich habe|die ich habe|ich kann nicht|ich bin da|nehmen sie das mit|das muss ich|ja ich habe|ich muss nicht|wenn ich kann|so gut ich kann|ich habe keine ahnung|das kann ich ihnen sagen|kann ich nicht sagen|ja das kann ich|mache ich|mach ich|nehme ich|glaube ich|denke ich|komme ich|bin ich|meine ich|möchte ich nicht|bitte an|an bitte|ich habe keine|ich habe eine|mir zu',
  },
  dictation: {
    numerals: () =>
      numeralTable({
        digits: 'null eins/ein/eine zwei/zwo drei vier fünf/fünef sechs sieben acht neun',
        teens: 'zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn',
        tens: 'zwanzig dreißig/dreissig vierzig fünfzig sechzig siebzig achtzig neunzig',
        join: (ten, digit) => [`${digit}und${ten}`, `${digit} und ${ten}`],
        hundred: (digit) => [`${digit}hundert`],
        links: ['', 'und', ' '],
        others: { doppel: '*', ...zeros },
      }),
    announcements: [
      { words: announcing('iban', links), code: 'iban' },
      { words: announcing('\\p{L}*kartennummer|\\p{L}*karte|\\p{L}*karten', links), digits: 15 },
      { words: announcing('prüfnummer|prüfziffer|kartenprüfnummer|sicherheitscode|cvv|cvc', links), digits: 3 },
      { words: announcing('postleitzahl|plz', links), digits: 5 },
      { words: announcing('konto|kontonummer|bankleitzahl|blz', links), digits: 8 },
      {
        words: announcing('steuernummer|steuer id|steueridentifikationsnummer|identifikationsnummer', links),
        digits: 10,
      },
      {
        words: announcing(
          '\\p{L}*versicherungsnummer|versichertennummer|policennummer|versicherungsscheinnummer|sendungsnummer|seriennummer|zählernummer',
          links,
        ),
        digits: 8,
      },
      {
        words: announcing(
          'kundennummer|vertragsnummer|mitgliedsnummer|rechnungsnummer|vorgangsnummer|buchungsnummer|reservierungsnummer|patientennummer|ticketnummer|referenznummer|aktenzeichen|personalnummer',
          links,
        ),
        digits: 4,
      },
      {
        words: announcing('pin|pin code|geheimzahl|geheimnummer|zugangscode|bestätigungscode|passcode|code', links),
        digits: 4,
      },
      {
        words: announcing(
          '\\p{L}*telefon|handy|mobil|(?:telefon|handy|mobil|mobilfunk|ruf|festnetz|rückruf|fax)nummer|(?:meine|unsere|ihre|seine|die|eine|neue|private|andere) nummer|nummer lautet|vorwahl',
          links,
        ),
        digits: 'phone',
      },
      {
        words: /(?<!\p{L})(?:(?:mich|uns)(?: \p{L}+){0,2} (?:unter|auf)(?: der)?|rufen sie (?:bitte )?die)(?: plus)?$/u,
        digits: 'phone',
      },
      { words: announcing('geburtsdatum|geburtstag|geboren', links), digits: 3 },
      { words: announcing('gültig bis|ablaufdatum|verfallsdatum', links), digits: 4 },
    ],
    phoneForms: [
      { starts: /^0 ?1 ?[567]/, digits: 11 },
      { starts: /^0/, digits: 9 },
    ],
    is: 'ist|lautet|wäre',
    plus: 'plus',
    mail: {
      announcements: 'e ?mail|mail|(?:e ?mail|mail) ?adresse|adresse',
      at: 'ät|at|klammeraffe',
      dot: 'punkt|dot',
      remarks:
        'nicht|falsch|richtig|korrekt|kaputt|voll|neu|alt|anders|noch|nicht|schon|immer|leider|die|der|das|in|auf|am|im|weg|da|gut|okay|hauptstraße|eine|ein',
    },
    spelling: {
      announcements:
        '(?:buchstabiert|geschrieben|schreibt sich|schreibt man|buchstabiere|buchstabieren)(?: mit| das| man| sich| ich| wie folgt| einem| einer){0,2}',
      asIn: 'wie|für',
      like: '',
      twice: 'doppel|zwei',
      letterWords: 'z b|d h|u a|o k|e c|t v|p c|u s|l g|u s a',
      alphabet:
        'anton berta cäsar dora emil friedrich gustav heinrich ida julius kaufmann konrad ludwig martha nordpol otto paula quelle richard samuel siegfried schule theodor ulrich ursula viktor wilhelm xanthippe ypsilon zacharias zeppelin',
    },
  },
  agent: {
    fallback: 'Entschuldigung, ich kann gerade nicht antworten. Können Sie das bitte wiederholen?',
    toolLeadIn: 'Einen Moment, bitte.',
    screeningQuestion:
      'Um den Anruf anzunehmen, drücken Sie die 1 oder sagen Sie ja. Um ihn abzulehnen, drücken Sie die 2 oder sagen Sie nein.',
    screeningReason: 'Guten Tag. Ich habe einen Anrufer für Sie in der Leitung.',
    summaryIntroduction: 'Der Anrufer hat gesagt:',
  },
  decisions: {
    yes: 'ja|jawohl|gerne|gern|klar|sicher|natürlich|in ordnung|stellen sie durch|verbinden sie|annehmen|einverstanden|warum nicht|wieso nicht|kein problem|keine frage|okay|passt gut|geht klar|machen sie|nehme ich|ich nehme an|ich nehme ihn|mit vergnügen|her damit|durchstellen|ja bitte|selbstverständlich|auf jeden fall|das passt gut',
    no: 'nein|nee|nicht|keine|ablehnen|später|leider|auf keinen fall|keine zeit|keinesfalls|ein andermal|ungern|lieber nicht|kein interesse|niemals|nie',
    undecided:
      'weiß nicht|weiss nicht|weiß ich nicht|weiß noch nicht|nicht sicher|mir nicht sicher|nicht verstanden|verstehe nicht|verstehe sie nicht|verstehe ich nicht|höre sie nicht|nicht gehört|höre nichts|ja hallo|ja guten tag|ja wer|ja mit wem|keine ahnung|nicht ganz verstanden',
    postponed:
      'nicht jetzt|jetzt nicht|jetzt gerade nicht|gerade nicht|nicht heute|heute nicht|noch nicht|im moment nicht|später|ein andermal|morgen|nächste woche|in einer stunde',
  },
  greetings: {
    voicemail:
      'mailbox|anrufbeantworter|sprachbox|nach dem signalton|nach dem ton|nach dem piepton|hinterlassen sie|nachricht hinterlassen|nach dem pieps|nachrichten nach dem|nachricht nach dem|so schnell wie möglich zurück|so bald wie möglich zurück|schnellstmöglich zurück|vorübergehend nicht erreichbar|zurzeit nicht erreichbar|nicht vergeben|kein anschluss unter dieser nummer|hinterlasst|hinterlass|hinterlassen sie uns|sprechen sie nach|persönliche mailbox',
    excuse: 'nicht ans telefon|gerade nicht sprechen|gerade nicht telefonieren',
    busy: 'fahre gerade|beim autofahren|im meeting|im auto|in einer besprechung|in einem termin|bei der arbeit|rufen sie mich|ruf mich|moment bitte|einen moment|keine zeit',
    ambiguous: 'nicht erreichbar',
    person:
      'möchten sie eine nachricht|wie kann ich ihnen helfen|wie kann ich helfen|kann ich ihnen helfen|was kann ich für sie tun|wer ist da|wer spricht|worum geht es|worum gehts|falsch verbunden|haben sie mir|sie haben mir|hast du mir|du hast mir|soll ich etwas ausrichten|mailbox gesprochen|mailbox gehört|mailbox abgehört|anrufbeantworter gesprochen|anrufbeantworter gehört|wollen sie eine nachricht|kann ich etwas ausrichten|mit wem spreche ich|wer sind sie|ich habe ihre nachricht|habe deine nachricht|hab ihre nachricht|falsche nummer|verwählt',
    conversing: 'sagen sie ihren namen|grund ihres anrufs|drücken sie|bleiben sie in der leitung',
  },
  transferRequests:
    'verbinden sie mich|mich verbinden|mich bitte verbinden|mich weiterleiten|stellen sie mich durch|mich durchstellen|mit jemandem sprechen|einen mitarbeiter|einem mitarbeiter|einer mitarbeiterin|einem menschen',
}
