import type { ScriptLanguage } from './script-language.ts'

export const fr: ScriptLanguage = {
  empty:
    'un une des le la les l ce cet cette ces il elle on je j me m moi mon ma mes nous notre nos tu te t ton ta tes vous votre vos ils elles ' +
    'leur son sa ses est c sont était être suis ai a avez avons ont avoir peut peux pouvez puis pourrais pourriez dois voudrais veux du de d ' +
    'en à au aux dans sur pour par avec chez et ou mais si alors donc ici que qu qui quoi quel quelle quels quelles comment quand plaît dire ' +
    'savoir besoin donner aussi très ne n pas non oui bonjour bonsoir salut maintenant quelque chose plus y se s jusqu',
  alike: [
    'ouvert ouverte ouverts ouvrez ouvre ouvrir fermé ferme fermez horaires heure heures quand',
    'prix coûte coûtent coûter combien tarif cher payer euros',
    'où adresse rue trouve trouver situé située',
    'téléphone numéro appeler joindre',
    'mail email courriel',
    'réserver réservation',
    'nom appelle appelez',
    'parking stationner garer stationnement',
    'chien chiens animal animaux',
  ],
  endings: [/(?:es|er|ez|e|s|t)$/],
  shortEnding: /s$/,
  labels: { question: 'q|question|client', answer: 'r|réponse|agent', greeting: 'accueil|salutation|saluer avec' },
  orders:
    'tu es|vous êtes|tu|ton|ta|votre|toujours|jamais|sois|soyez|parle|parlez|réponds|répondez|si|quand|utilise|demande|demandez|salue|saluez|aide|aidez|évite|évitez|propose|proposez',
  triggers: {
    whoAreYou:
      /\bqui (?:es-tu|êtes-vous)|\b(?:ton|votre) nom\b|(?<!\p{L})(?:es-tu|êtes-vous) (?:une? )?(?:ia|bot|modèle|humain|robot)/iu,
    hello: /^(?:bonjour|bonsoir|salut|allô|allo)(?!\p{L})/iu,
    whatCanYouDo: /que (?:peux-tu|pouvez-vous|sais-tu) faire/i,
    thanks: /\bmerci\b/i,
    goodbye: /(?<!\p{L})(?:au revoir|à bientôt|bonne journée)(?!\p{L})/iu,
    stop: /^(?:non,? )?(?:stop|arrête|arrêtez|attends|attendez|un instant|une minute|silence)(?!\p{L})/iu,
    again:
      /^\W*(?:pardon\W*|comment ?\?|qu[’']avez-vous dit|qu[’']as-tu dit|(?:pardon,? )?(?:pouvez-vous |peux-tu )?(?:le )?répét(?:er|ez|e)(?: (?:ça|cela|s[’']il vous plaît))*)\W*$/iu,
    echo: /^(?:s[’']il (?:te|vous) plaît,? )?(?:dis|dites|répète|répétez)(?![-\p{L}])(?! (?:ça|cela)\b)[\s:,]*(?:après moi[\s:,]*)?(?=\S|$)/iu,
    leaves: /\b(?:au revoir|raccrocher|c[’']est tout|rien d[’']autre|(?:terminer|finir) l[’']appel)\b/i,
    wantsCallback: /\b(?:rappelez|rappelle)-(?:moi|nous)\b|\bme rappeler\b|\bêtre rappelée?\b/iu,
    calculation:
      /(?<a>-?\d+(?:[.,]\d+)?)\s*(?<operator>\+|-|\*|\/|plus|moins|fois|divisé par)\s*(?<b>-?\d+(?:[.,]\d+)?)/iu,
  },
  decimalMark: ',',
  numbers: 'zéro un deux trois quatre cinq six sept huit neuf dix onze douze',
  day: /(?<!\p{L})(?:aujourd[’']hui|demain|après-demain|ce soir|(?:lun|mar|mercre|jeu|vendre|same)di|dimanche)(?!\p{L})/iu,
  ownName: "je m[’']appelle|mon nom est|je suis|c[’']est|nom",
  operators: { '+': ['plus'], '-': ['moins'], '*': ['fois'], '/': ['divisé par'] },
  says: {
    introduction: 'Je suis le remplaçant de Parley, fait de règles, et non un modèle de langage',
    hello: 'Bonjour !',
    askToRepeat: 'Demandez-moi de répéter quelque chose.',
    abilities:
      'Je répète, je calcule et j’appelle les outils que vous nommez. Pour de vraies réponses, configurez une clé comme OPENAI_API_KEY.',
    welcome: 'Je vous en prie.',
    goodbye: 'Au revoir.',
    allRight: 'D’accord.',
    stillThere: 'Êtes-vous toujours là ?',
    sayAgain: 'Excusez-moi, je n’ai pas compris. Pouvez-vous répéter ?',
    notConnected: 'Je suis désolé, je n’ai pas pu vous mettre en relation. Puis-je vous aider autrement ?',
    notConnectedTakesMessage:
      'Je suis désolé, je n’ai pas pu vous mettre en relation. Voulez-vous laisser un message ?',
    noAnswer: 'et mes consignes n’ont pas de réponse à cela.',
    noRule: 'et je n’ai pas de règle pour cela. Configurez un modèle de langage pour obtenir de vraies réponses.',
    youSaid: 'Vous avez dit :',
    toolAnswered: 'L’outil a répondu :',
    toolFailed: 'L’outil a échoué :',
    done: 'c’est fait.',
    is: 'est',
    isEmpty: 'est vide',
    has: 'contient',
    hasMore: 'contient plus',
    nothing: 'rien',
    and: 'et',
    entry: 'entrée',
    entries: 'entrées',
  },
}
