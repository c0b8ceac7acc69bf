import type { LanguageWords } from './language-words.ts'

export const french: LanguageWords = {
  turns: {
    backchannels:
      'oui|ouais|voilà|exact|exactement|bien|très bien|bien sûr|daccord|je vois|je comprends|compris|parfait|super|ah oui|ah bon|hein|euh|ben oui|tout à fait|cest ça|entendu|ça marche|bon',
    unfinished:
      'et|ou|mais|donc|car|parce que|que|qui|quand|si|le|la|les|un|une|des|du|de|au|aux|mon|ma|mes|ton|ta|tes|son|sa|ses|notre|votre|vos|ce|cet|cette|ces|à|en|dans|sur|avec|pour|par|chez|vers|je|tu|est|cest|jai|je voudrais|euh|ben|alors|enfin|jaimerais|jai besoin|je veux|je cherche|puis je|pouvez vous|est ce que|avez vous|jappelle pour|numéro est|nom est|adresse est|sécrit|arobase|tiret',
  },
  agent: {
    fallback: 'Désolé, je ne peux pas répondre pour le moment. Pouvez-vous répéter ?',
    toolLeadIn: 'Un instant, s’il vous plaît.',
    screeningQuestion: 'Pour prendre l’appel, appuyez sur 1 ou dites oui. Pour le refuser, appuyez sur 2 ou dites non.',
    screeningReason: 'Bonjour. J’ai un appel pour vous.',
    summaryIntroduction: 'L’appelant a dit :',
  },
  decisions: {
    yes: 'oui|ouais|daccord|dac|bien sûr|jaccepte|volontiers|allezy|passezlemoi|passezlamoi',
    no: 'non|pas|refuse|occupé|occupée|plus tard|jamais',
  },
  greetings: {
    voicemail:
      'messagerie|boîte vocale|répondeur|laissez un message|laissez votre message|laisser un message|après le bip|après le signal',
    excuse: 'ne peux pas vous répondre|ne peux pas vous parler|ne peux pas parler',
    busy: 'je conduis|au volant|en voiture|en réunion|suis occupé|suis occupée|au travail|rappelez moi|rappelle moi|un instant|une seconde|une minute',
    ambiguous: 'nest pas disponible|ne suis pas disponible|vous êtes bien chez',
    person:
      'voulez vous laisser|souhaitez vous laisser|comment puis je vous aider|que puis je faire pour vous|en quoi puis je vous aider|qui est à lappareil|cest de la part de qui|vous mavez|mavez vous|tu mas laissé|avez laissé un',
    conversing: 'dites votre nom|raison de votre appel|tapez 1|tapez un|appuyez sur|restez en ligne',
  },
  transferRequests:
    'passezmoi|me passer|transférezmoi|me transférer|mettezmoi en relation|parler à|parler avec|un conseiller|une conseillère',
}
