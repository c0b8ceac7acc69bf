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
  decisions: {
    yes: 'ja|jo|japp|javisst|visst|absolut|självklart|gärna|okej|koppla fram|koppla|jag accepterar|varför inte|inga problem|inget problem',
    no: 'nej|nä|inte|avböjer|upptagen|aldrig',
    undecided: 'vet inte|förstår inte|förstod inte|hör inte|hörde inte|inte säker|ja hallå|ja hej|ja vem',
    postponed: 'inte nu|inte just nu|inte idag|senare|en annan gång|imorgon|i morgon',
  },
}
