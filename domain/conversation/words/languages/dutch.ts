import type { LanguageWords } from './language-words.ts'

export const dutch: LanguageWords = {
  turns: {
    backchannels:
      'ja|jawel|jep|precies|klopt|juist|goed|prima|oké|begrijp ik|ik begrijp het|ik snap het|snap ik|natuurlijk|zeker|inderdaad|aha|uh|eh|mooi|duidelijk|is goed|tuurlijk|echt',
    unfinished:
      'en|of|maar|want|dus|omdat|wanneer|terwijl|hoewel|totdat|de|een|mijn|jouw|uw|ons|onze|deze|dit|van|naar|tussen|te|ik|ik wil|ik zou|ik zou graag|apenstaartje|kunt u|kun je|uh|eh|ehm|nou|ik moet|mag ik|heeft u|ik bel over|nummer is|naam is|adres is|streepje',
    particles: 'met|over|punt|voor|bij',
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
