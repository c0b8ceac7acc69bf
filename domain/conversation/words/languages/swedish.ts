import type { LanguageWords } from './language-words.ts'

export const swedish: LanguageWords = {
  turns: {
    backchannels:
      'ja|jo|japp|jaha|precis|just det|okej|visst|självklart|jag förstår|förstår|bra|okej då|mm|aa|jaså|exakt',
    unfinished:
      'och|eller|men|för|att|som|om|när|medan|eftersom|fast|en|ett|min|mitt|mina|vår|från|vid|mellan|jag|jag vill|kan du|öh|eh|alltså|liksom',
  },
  agent: {
    fallback: 'Ursäkta, jag kan inte svara just nu. Kan du säga det igen?',
    toolLeadIn: 'Ett ögonblick.',
  },
}
