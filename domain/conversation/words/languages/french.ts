import { announcing } from './announcing.ts'
import type { LanguageWords } from './language-words.ts'
import { numeralTable } from './numerals.ts'

/**
 * Words that may come between an announcement such as "mon numéro" and the number. "Mon portable est un iPhone 12"
 * announces no number.
 */
const links =
  'est|cest|serait|le|la|les|mon|ma|numéro|de|du|portable|fixe|téléphone|carte|bleue|suivant|plus|au|indicatif|alors|donc|euh'

export const french: LanguageWords = {
  turns: {
    backchannels:
      'oui|ouais|voilà|exact|exactement|bien|très bien|bien sûr|daccord|je vois|je comprends|compris|parfait|super|ah oui|ah bon|hein|euh|ben oui|tout à fait|cest ça|entendu|ça marche|bon',
    unfinished:
      'et|ou|mais|donc|car|parce que|que|si je|si vous|le|les|des|du|de|au|aux|mon|ma|mes|ton|ta|tes|son|sa|ses|notre|votre|vos|nos|leur|leurs|ce|cet|cette|ces|à|en|dans|sur|par|chez|vers|je|jai|lorsque|puisque|pendant|entre|jusquà|jusquau|jusquaux|afin|afin de|ainsi que|très|quel|quelle|quels|quelles|dont|chaque|quelques|plusieurs|numéro est|nom est|prénom est|adresse est|mail est|code est|iban est|problème est|question est|le problème cest que|cest que|je mappelle|sécrit|arobase|tiret|tiret bas|underscore|jappelle pour|jappelle car|jappelle parce que|jappelle au sujet|je vous appelle pour|je vous appelle au sujet|à propos|au sujet|en ce qui concerne|concernant|à cause|grâce|il sagit|par exemple|cestàdire|cest à dire|sauf|selon|malgré|contrairement|plutôt que|tandis que|alors que|bien que|pour que|quand je|quest ce que|est ce que|et puis|et après|ou alors|ou peut être|je crois que|je pense que|je vais|en ce moment je',
    particles:
      'la|un|une|tu|est|cest|qui|quand|pour|avec|sans|où|comme|comment|point|depuis|après|avant|contre|derrière|devant|nous avons|ça fait|aucun|aucune|sous|dès|moins|plus ou moins|je crois|je pense|je dois|cétait|je peux|je suis',
    openings: 'sil vous plaît|alors|ben|bah|enfin|écoutez|dites',
    hesitations:
      'euh|heu|eh|hum|hm|hmm|mmm|ben|bah|ben euh|alors euh|donc euh|attendez|attends|attendez voir|attendez un instant|attendez une seconde|attendez une minute|attendez je regarde|un instant|un instant sil vous plaît|un petit instant|un moment|un moment sil vous plaît|une seconde|une seconde sil vous plaît|une petite seconde|une minute|deux secondes|deux minutes|laissez moi réfléchir|laisse moi réfléchir|laissez moi voir|laissez moi regarder|laissez moi vérifier|je réfléchis|je regarde|je cherche mes mots|je vais regarder|que je regarde|voyons|voyons voir|comment dire|comment dirais je|comment ça sappelle|comment on dit|quest ce que je voulais dire|où en étais je|ne quittez pas|quittez pas|disons|je veux dire|enfin je veux dire|je vous dis ça|je vous dis ça tout de suite|je ne me souviens plus|je ne sais plus|quest ce que cétait|cétait quoi déjà|une petite minute|un petit moment',
    winsTime:
      /(?:^| )(?:laissez? moi (?:\p{L}+ ){0,2}(?:voir|regarder|réfléchir|vérifier|chercher|retrouver|consulter|penser)(?: \p{L}+){0,4}|je (?:vais )?(?:regarde|regarder|vérifie|vérifier|réfléchis|réfléchir)(?: (?:un|instant|peu|ça|voir|tout|de|suite|dans|mon|ma|\p{L}+)){0,4}|(?:donnez moi )?(?:une?|deux) (?:petite? )?(?:secondes?|minutes?|instant|moment)(?: sil vous plaît)?)$/u,
    fillers: 'alors|enfin|ben|bon|bon ben|donc|bref|voilà|disons|genre|en fait|du coup|écoutez',
    begunRequests:
      'je voudrais|je souhaiterais|je souhaite|jaimerais|jaimerais bien|je veux|jai besoin|jai besoin de|jaurais besoin|jaurais besoin de|je cherche|je cherche à|je viens|puis je|pourrais je|pouvez vous|pourriez vous|peux tu|pourrais tu|auriez vous|avez vous|savez vous|sauriez vous|seriez vous|voudriez vous|voulez vous|serait il possible|est il possible|serait ce possible|est ce possible|cest possible de|ce serait possible de|est ce que vous|est ce que je|est ce que cest|est ce quil|est ce quon|est ce que vous pouvez|est ce que vous pourriez|est ce que vous avez|est ce que vous auriez|est ce que je peux|est ce que je pourrais|est ce que cest possible|est ce quil est possible|est ce quil serait possible|est ce quil y a|vous pourriez|peut on|pourrait on|y a t il|y atil|je me demandais|je me demandais si|je voulais|je voulais savoir|je voulais savoir si|je voudrais savoir|je voudrais savoir si|jaimerais savoir|pouvez vous me dire|pourriez vous me dire|jai une question sur|jai une question à propos|combien|combien de|combien coûte|quel est|quelle est|quels sont|quelles sont|il me faudrait|il me faut|dites moi|donnez moi|pouvez vous me dire si|à quelle heure|je voulais demander si|je voulais demander|où puis je|où est ce que|comment puis je|quand est ce que|je voudrais parler à|puis je parler à|pourrais je parler à|jappelle pour demander',
    softeners:
      'sil vous plaît|sil te plaît|peut être|éventuellement|juste|simplement|aussi|me|nous|gentiment|rapidement|y|là|de|à|bien|savoir|demander|dire|si|donc',
    determiners: 'mon|ma|notre|le|la|son|sa',
    complete:
      'comme je veux|ce que je veux|ce que je voudrais|cest ce que je veux|ce que je cherche|si vous voulez|quand vous voulez|comme vous voulez|si vous pouvez|quand vous pouvez|quand vous voudrez|si vous pourriez|je vous en prie|depuis un moment|pour un moment|dans un moment|dans un instant|dans une minute|dans une seconde|dans deux minutes|en ce moment|pour le moment|pour linstant|cest bien ce que je voulais|ce que je voulais|tout ce que je voulais|oui jai|non cest bon|cest ça|oui cest moi|il y a|je les|pas bien|très bien|cest très bien|va bien|assez bien|si bien|je ne peux pas|je nen sais rien|oui je peux|si je peux|si je dois|laissez le|donnez le|prenez le|envoyez le|annulez le|gardez le|faites le|mettez le|changez le|appelez le|appelez les|laissez les|prenez les|envoyez les|annulez les|cest vous dire|je vous demande|merci à vous|je veux bien|ça y est',
  },
  dictation: {
    numerals: () =>
      numeralTable({
        digits: 'zéro un/une deux trois quatre cinq six sept huit neuf',
        teens: 'dix onze douze treize quatorze quinze seize dix_sept dix_huit dix_neuf',
        tens: 'vingt trente quarante cinquante soixante septante/soixante_dix huitante/octante/quatre_vingts/quatre_vingt nonante/quatre_vingt_dix',
        join: withFrenchDigit,
        hundred: (digit) => [`${digit} cent`.trim(), `${digit} cents`.trim()],
        links: [' '],
        others: { double: '*', triple: '**' },
      }),
    announcements: [
      { words: announcing('iban|rib', links), code: 'iban' },
      { words: announcing('carte(?: bleue| bancaire| de crédit| de paiement| visa)?', links), digits: 15 },
      { words: announcing('cvv|cvc|cryptogramme(?: visuel)?|code de sécurité', links), digits: 3 },
      { words: announcing('code postal', links), digits: 5 },
      { words: announcing('sécurité sociale', links), digits: 13 },
      { words: announcing('siret', links), digits: 14 },
      { words: announcing('siren', links), digits: 9 },
      { words: announcing('(?:numéro de )?compte(?: bancaire)?', links), digits: 8 },
      {
        words: announcing(
          'numéro (?:de |d)?(?:client|cliente|contrat|dossier|adhérent|adhérente|référence|réservation|facture|commande|sociétaire|patient|police)|référence client',
          links,
        ),
        digits: 4,
      },
      { words: announcing('pin|code(?: pin| secret| daccès| confidentiel)?|mot de passe', links), digits: 4 },
      {
        words: announcing(
          'téléphone|portable|mobile|fixe|whatsapp|(?:mon|son|notre|le|un|votre|autre) numéro|indicatif',
          links,
        ),
        digits: 'phone',
      },
      {
        words:
          /(?<!\p{L})(?:m?(?:joindre|appeler|rappeler|contacter) au|(?:r?appelez) moi au|joignable au)(?: plus)?$/u,
        digits: 'phone',
      },
      { words: announcing('date de naissance|anniversaire|né|née', links), digits: 3 },
      { words: announcing('date dexpiration|date de validité', links), digits: 4 },
    ],
    phoneForms: [{ starts: /^0/, digits: 10 }],
    is: 'est|cest|serait',
    plus: 'plus',
    mail: {
      announcements: 'e ?mail|mail|courriel|adresse (?:e ?mail|mail|électronique|courriel)',
      at: 'arobase|arrobase|at|chez',
      dot: 'point',
      remarks:
        'pas|faux|fausse|incorrect|incorrecte|correct|correcte|nouveau|nouvelle|plein|pleine|la|le|celui|celle|très|toujours|plus|bien|bon|bonne|en|ancien|ancienne|important|un|une|déjà',
    },
    spelling: {
      announcements: '(?:sécrit|sépelle|jépelle|épelé|épeler|écrit)(?: avec| comme ça| un| la| le){0,2}',
      asIn: '',
      like: 'comme|de',
      twice: 'double|deux',
      letterWords: 'y a|à y|a à|y à|l a|o k|t v|à a|a y',
      alphabet:
        'anatole berthe célestin désiré eugène françois gaston henri irma joseph kléber louis marcel nicolas oscar pierre quintal raoul suzanne thérèse ursule victor william xavier yvonne zoé',
    },
  },
  agent: {
    fallback: 'Désolé, je ne peux pas répondre pour le moment. Pouvez-vous répéter ?',
    toolLeadIn: 'Un instant, s’il vous plaît.',
    screeningQuestion: 'Pour prendre l’appel, appuyez sur 1 ou dites oui. Pour le refuser, appuyez sur 2 ou dites non.',
    screeningReason: 'Bonjour. J’ai un appel pour vous.',
    summaryIntroduction: 'L’appelant a dit :',
  },
  decisions: {
    yes: 'oui|ouais|daccord|dac|bien sûr|jaccepte|volontiers|allezy|passezlemoi|passezlamoi|pas de problème|aucun problème|pas de souci|aucun souci|pourquoi pas|avec plaisir|ça marche|très bien|je prends|je le prends|mettez moi en relation|passez le moi|passez la moi|allez y|pas dinconvénient|entendu|okay|évidemment|absolument',
    no: 'non|pas|refuse|occupé|occupée|plus tard|jamais|autre fois|une autre fois|un autre jour|impossible|pas maintenant|sans façon|hors de question',
    undecided:
      'sais pas|ne sais pas|pas compris|nai pas compris|comprends pas|ne comprends pas|pas sûr|pas sûre|pas entendu|nai pas entendu|entends pas|ne vous entends pas|oui allô|oui allo|oui bonjour|oui qui|oui cest qui|oui à qui',
    postponed:
      'pas maintenant|pas tout de suite|pas aujourdhui|pas encore|pas pour le moment|plus tard|une autre fois|un autre jour|demain|la semaine prochaine|dans une heure',
  },
  greetings: {
    voicemail:
      'messagerie|boîte vocale|répondeur|laissez un message|laissez votre message|laisser un message|après le bip|après le signal|laissez moi un message|laissez nous un message|laisser vos coordonnées|laissez vos coordonnées|laisser votre message|rappellerai dès que possible|rappellerons dès que possible|pas attribué|nest pas attribué|nest plus attribué|bip sonore|signal sonore|parlez après|messagerie vocale|nest pas joignable|laisse un message|laisse moi un message',
    excuse: 'ne peux pas vous répondre|ne peux pas vous parler|ne peux pas parler',
    busy: 'je conduis|au volant|en voiture|en réunion|suis occupé|suis occupée|au travail|rappelez moi|rappelle moi|un instant|une seconde|une minute',
    ambiguous: 'nest pas disponible|ne suis pas disponible|vous êtes bien chez',
    person:
      'voulez vous laisser|souhaitez vous laisser|comment puis je vous aider|que puis je faire pour vous|en quoi puis je vous aider|qui est à lappareil|cest de la part de qui|vous mavez|mavez vous|tu mas laissé|avez laissé un|message sur ma messagerie|message sur mon répondeur|eu votre message|reçu votre message|écouté votre message|cest pour quoi|cest à quel sujet|qui êtes vous|à qui ai je|puis je prendre un message|que je prenne un message|je peux prendre un message|trompé de numéro|trompée de numéro|vous êtes trompé|mauvais numéro|faux numéro',
    conversing: 'dites votre nom|raison de votre appel|tapez 1|tapez un|appuyez sur|restez en ligne',
  },
  transferRequests:
    'passezmoi|me passer|transférezmoi|me transférer|mettezmoi en relation|parler à|parler avec|un conseiller|une conseillère',
}

const teens = ['onze', 'douze', 'treize', 'quatorze', 'quinze', 'seize', 'dix sept', 'dix huit', 'dix neuf']
const ones = ['un', 'deux', 'trois', 'quatre', 'cinq', 'six', 'sept', 'huit', 'neuf']

/** "Soixante-dix" and "quatre-vingt-dix" go on with the numbers from 11 to 19. */
function withFrenchDigit(ten: string, digit: string): readonly string[] {
  const base = /^(soixante|quatre vingt) dix$/.exec(ten)?.[1]
  const rest = base === undefined ? digit : (teens[ones.indexOf(digit)] ?? '')
  return rest === '' ? [] : [`${base ?? ten} ${rest}`, `${base ?? ten} et ${rest}`]
}
