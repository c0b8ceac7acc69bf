import type { LanguageWords } from './language-words.ts'

export const german: LanguageWords = {
  turns: {
    backchannels:
      'ja|jo|jap|genau|stimmt|richtig|klar|alles klar|gut|schön|super|verstehe|ich verstehe|natürlich|sicher|ach so|achso|aha|eben|in ordnung|ähm|äh|mhmm|ach|echt|sehr gut|na klar|weiter',
    unfinished:
      'und|oder|aber|denn|sondern|weil|dass|wenn|ob|obwohl|während|damit|der|die|das|den|dem|des|eine|einen|einem|einer|mein|meine|meinen|dein|sein|ihr|ihre|unser|dieser|diese|dieses|in|im|am|von|vom|zum|zur|für|ich|wir|ich möchte|ich hätte gern|können sie|äh|ähm|also|und zwar|nämlich|ich brauche|ich will|ich wollte|wollte fragen|ät|klammeraffe|können wir|könnten sie|haben sie|gibt es|ich rufe an|nummer ist|nummer lautet|name ist|adresse ist|buchstabiert|unterstrich|bindestrich|wegen',
    particles: 'mit|über|punkt|ein|bei',
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
    yes: 'ja|jawohl|gerne|gern|klar|sicher|natürlich|in ordnung|stellen sie durch|verbinden sie|annehmen|einverstanden',
    no: 'nein|nee|nicht|keine|ablehnen|später|leider',
  },
  greetings: {
    voicemail:
      'mailbox|anrufbeantworter|sprachbox|nach dem signalton|nach dem ton|nach dem piepton|hinterlassen sie|nachricht hinterlassen',
    excuse: 'nicht ans telefon|gerade nicht sprechen|gerade nicht telefonieren',
    busy: 'fahre gerade|beim autofahren|im meeting|im auto|in einer besprechung|in einem termin|bei der arbeit|rufen sie mich|ruf mich|moment bitte|einen moment|keine zeit',
    ambiguous: 'nicht erreichbar',
    person:
      'möchten sie eine nachricht|wie kann ich ihnen helfen|wie kann ich helfen|kann ich ihnen helfen|was kann ich für sie tun|wer ist da|wer spricht|worum geht es|worum gehts|falsch verbunden|haben sie mir|sie haben mir|hast du mir|du hast mir|soll ich etwas ausrichten',
    conversing: 'sagen sie ihren namen|grund ihres anrufs|drücken sie|bleiben sie in der leitung',
  },
  transferRequests:
    'verbinden sie mich|mich verbinden|mich bitte verbinden|mich weiterleiten|stellen sie mich durch|mich durchstellen|mit jemandem sprechen|einen mitarbeiter|einem mitarbeiter|einer mitarbeiterin|einem menschen',
}
