import { announcing } from './announcing.ts'
import type { LanguageWords } from './language-words.ts'
import { numeralTable } from './numerals.ts'

/** Words that may come between an announcement such as "my number" and the number. */
const links = 'is|het|de|nummer|van|mijn|plus|op'

export const dutch: LanguageWords = {
  turns: {
    backchannels:
      'ja|jawel|jep|precies|klopt|juist|goed|prima|oké|begrijp ik|ik begrijp het|ik snap het|snap ik|natuurlijk|zeker|inderdaad|aha|uh|eh|mooi|duidelijk|is goed|tuurlijk|echt',
    unfinished:
      'en|of|maar|want|dus|omdat|wanneer|terwijl|hoewel|totdat|de|een|mijn|jouw|uw|ons|onze|deze|dit|van|naar|tussen|te|ik|ik wil|ik zou|ik zou graag|apenstaartje|kunt u|kun je|uh|eh|ehm|nou|ik moet|mag ik|heeft u|ik bel over|nummer is|naam is|adres is|streepje',
    particles: 'met|over|punt|voor|bij',
  },
  dictation: {
    numerals: () =>
      numeralTable({
        digits: 'nul een/één twee drie vier vijf zes zeven acht negen',
        teens: 'tien elf twaalf dertien veertien vijftien zestien zeventien achttien negentien',
        tens: 'twintig dertig veertig vijftig zestig zeventig tachtig negentig',
        join: (ten, digit) => [`${digit}en${ten}`, `${digit}ën${ten}`],
        hundred: () => [],
        links: [],
        others: { dubbel: '*' },
      }),
    announcements: [
      { words: announcing('iban', links), code: 'iban' },
      { words: announcing('\\p{L}*kaart(?:nummer)?', links), digits: 15 },
      { words: announcing('rekeningnummer', links), digits: 8 },
      { words: announcing('telefoon|(?:telefoon|mobiele) ?nummer|(?:mijn|ons|het) nummer', links), digits: 'phone' },
      { words: /(?<!\p{L})(?:bereiken|bel me|bellen) op$/u, digits: 'phone' },
    ],
    phoneForms: [{ starts: /^0/, digits: 10 }],
    is: 'is',
    plus: 'plus',
    mail: {
      announcements: '(?:e ?mail|mail) ?(?:adres)?',
      at: 'apenstaartje|at',
      dot: 'punt',
      remarks: 'niet|fout|juist|nieuw|vol|het|de|al|goed',
    },
    spelling: {
      announcements: '(?:gespeld|geschreven|spel je|schrijf je)(?: met){0,2}',
      asIn: 'als in',
      like: 'van',
      twice: 'dubbel|twee',
      letterWords: 'o k|t v|u a',
      alphabet: '',
    },
  },
  agent: {
    fallback: 'Sorry, ik kan op dit moment niet antwoorden. Kunt u dat herhalen?',
    toolLeadIn: 'Een ogenblik, alstublieft.',
    screeningQuestion: 'Om het gesprek aan te nemen, toets 1 of zeg ja. Om te weigeren, toets 2 of zeg nee.',
    screeningReason: 'Goedendag. Ik heb een beller voor u aan de lijn.',
    summaryIntroduction: 'De beller heeft gezegd:',
  },
  decisions: {
    yes: 'ja|jawel|zeker|natuurlijk|graag|goed|verbind maar door|accepteer',
    no: 'nee|neen|niet|geen|weiger|later|bezet',
    postponed: 'niet nu|nu niet|vandaag niet|nog niet|later|een andere keer|straks|morgen|volgende week',
  },
  greetings: {
    voicemail:
      'voicemail|antwoordapparaat|spreek een bericht in|laat een bericht|laat uw bericht|bericht achterlaten|na de toon|na de piep',
    excuse: 'niet opnemen|niet praten|telefoon niet beantwoorden',
    busy: 'aan het rijden|zit in de auto|in een vergadering|ben bezig|aan het werk|bel me|belt u me|een moment|momentje',
    ambiguous: 'niet beschikbaar|niet bereikbaar|u spreekt met',
    person:
      'wilt u een|waarmee kan ik u helpen|hoe kan ik u helpen|kan ik u helpen|wat kan ik voor u doen|met wie spreek ik|heeft u mij|hebt u mij|u heeft mij|heeft u een bericht|hebt u een bericht|op mijn voicemail ingesproken|mijn voicemail ingesproken',
    conversing: 'zeg uw naam|reden van uw oproep|toets 1|toets een|kies 1|blijf aan de lijn',
  },
  transferRequests:
    'verbind me door|verbind mij door|me doorverbinden|mij doorverbinden|doorverbonden worden|spreken met|met iemand spreken|een medewerker',
}
