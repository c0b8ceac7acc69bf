import { checkLanguage } from './check.ts'

checkLanguage('fr', {
  numbers: {
    holds: `
      Mon code postal est 75
      Mon code postal est le sept cinq
      Mon numéro client est le 12
      Mon numéro de contrat est quatre sept
      Mon numéro de compte est 3000
      Le cryptogramme est 12
      Ma date de naissance est le 12
      Mon IBAN est FR76
      Mon IBAN est FR76 3000 6000
      C'est le 47 11
      Mon numéro de sécurité sociale est 1 84
      Mon code est 4
      Mon code postal est soixante-quinze
      Le numéro de dossier est quatre-vingt-douze
      Je suis né le 12
      La référence client est`,
    ends: `
      Mon code postal est 75011
      Mon code postal est soixante-quinze zéro onze
      Mon numéro de commande est 4711
      Mon numéro de compte est 12345678
      Le cryptogramme est 123.
      Je suis né le 12 3 1980
      À 10:30.
      Le 12/05/2024.
      Ça coûte 4,50
      J'ai vingt-cinq ans
      Quatre-vingt-douze
      Mon IBAN est FR76 3000 6000 0112 3456 7890 189
      Chambre 12
      Je n'ai pas d'IBAN.
      Le code erreur est affiché
      Mon code est 1234`,
  },
  cards: {
    holds: `
      Ma carte est la 4111
      Le numéro de ma carte est 4111 1111
      Ma carte bleue est la 4111 1111 1111
      Mon numéro de carte est quatre un un un
      Ma carte de crédit est 5500
      Le numéro de carte est quarante et un onze
      Ma carte bancaire est 3782 822463
      Le numéro de ma carte est 4111 1111 1111 11.
      Ma carte Visa est la 4000
      La carte est quatre-vingt-dix douze
      Mon numéro de carte est`,
    ends: `
      Ma carte est la 4111 1111 1111 1111
      Ma carte est 3782 822463 10005
      Le numéro de ma carte est 4111111111111111.
      On m'a volé ma carte.
      Je voudrais payer par carte
      Ma carte expire en 27
      Ma carte se termine par 42
      J'ai deux cartes
      J'ai perdu ma carte
      La date d'expiration est 12 27
      Ma carte est-elle valable ?`,
  },
  phones: {
    holds: `
      Mon numéro est 06
      Mon numéro est le zéro six
      Mon numéro est 06 12 34
      Vous pouvez me joindre au 06
      Mon portable est le 06 12 34 56
      Mon numéro est zéro six douze trente-quatre
      Mon numéro, c'est le 06
      Mon numéro est +33 6
      06 12 34
      Zéro six douze
      Mon téléphone est le 01 42
      Rappelez-moi au 06
      Mon numéro est 06.
      Mon numéro est plus trente-trois
      C'est le 0 6 1 2
      Mon fixe est le zéro un quarante-deux soixante-dix-huit
      Mon numéro de téléphone est le`,
    ends: `
      Mon numéro est 06 12 34 56 78
      Mon numéro est 0612345678.
      06 12 34 56 78
      Mon numéro est zéro six douze trente-quatre cinquante-six soixante-dix-huit
      Mon numéro est +33 6 12 34 56 78
      Mon portable est un iPhone 12
      Mon numéro a changé
      Vous avez mon numéro.
      Rappelez-moi demain.
      Appelez-moi à 5 heures
      Mon fixe est le zéro un quarante-deux soixante-dix-huit quatre-vingt-dix quatre-vingt-dix-neuf
      C'est un mauvais numéro.`,
  },
  spelling: {
    holds: `
      Je m'appelle Dupont, D U P
      D-U-P
      Ça s'écrit avec un T
      D comme Denis
      D comme Denis, A comme Anatole
      Deux L
      Double T
      Je l'épelle, M A
      Ça s'écrit B
      Le code est X 7 K
      Mon nom s'écrit
      Anatole Berthe Célestin
      M comme Marcel, U comme Ursule`,
    ends: `
      Je m'appelle Petit, P E T I T
      Roux. R-O-U-X.
      Je m'appelle Dupont.
      Plan B
      Vitamine C
      Comment ça s'écrit ?
      Il y a
      C'est mal écrit
      Je l'ai vu à la T V
      Je m'appelle Anna
      J'habite à Paris
      Marcel est mon frère`,
  },
  mail: {
    holds: `
      Mon mail est anne
      Mon adresse mail est anne point
      Mon adresse e-mail est anne point dupont
      Mon mail est anne arobase
      Mon mail est anne arobase exemple
      Mon adresse mail est anne arobase exemple point
      C'est anne.dupont@exemple
      anne@
      Mon adresse électronique est anne tiret
      Mon mail, c'est anne
      Anne point dupont arobase gmail
      Mon adresse mail est`,
    ends: `
      Mon mail est anne arobase exemple point fr
      Mon adresse mail est anne.dupont@exemple.fr
      C'est anne@exemple.com.
      Mon mail n'est pas arrivé
      Mon adresse mail est fausse.
      Envoyez-moi un mail.
      Je n'ai pas reçu votre mail
      Mon mail est toujours le même
      Anne point dupont arobase gmail point com
      Mon adresse mail est nouvelle
      C'est un bon point.`,
  },
  hesitations: {
    holds: `
      Euh
      Euh...
      Attendez
      Attendez.
      Un instant
      Un instant, s'il vous plaît.
      Je voudrais une table, euh
      Alors
      Oui, alors
      Laissez-moi réfléchir.
      Voyons voir
      Comment dire
      Une seconde.
      Ben
      Ne quittez pas.
      Attendez une minute
      Je réfléchis
      Donc euh
      Que je regarde
      Oui, enfin`,
    ends: `
      Je ne sais pas.
      J'attends depuis un moment.
      Je suis prêt.
      J'attends votre appel.
      Pas pour le moment
      C'est un bon choix.
      Ils arrivent dans un instant
      Mais si.
      Je suis pour.
      Non merci
      C'est ça`,
  },
  requests: {
    holds: `
      Est-ce que vous pourriez
      Est-ce que vous pourriez s'il vous plaît
      Pourriez-vous
      Pourriez-vous me
      Pouvez-vous
      Je voudrais
      Je voudrais.
      J'aimerais
      J'ai besoin de
      Est-ce que
      Est-ce que je peux
      Avez-vous
      Je cherche
      J'appelle pour
      Puis-je
      Serait-il possible de
      Je voudrais savoir si
      Je voudrais une table pour
      Auriez-vous éventuellement
      Pourriez-vous me dire`,
    ends: `
      Pourriez-vous m'aider ?
      Je voudrais une table pour deux.
      C'est tout ce que je voulais.
      C'est ce que je veux.
      Oui, s'il vous plaît
      Si vous voulez.
      J'en veux un.
      Je cherche une table
      Avez-vous une table ce soir ?
      Donnez-moi le prix.
      Non, merci
      Quand vous pouvez.
      Je viens avec.
      Je ne sais pas qui.`,
  },
  backchannels: {
    listens: `
      Oui, oui.
      D'accord
      D'accord.
      Mhm
      Bien sûr.
      Je vois.
      Voilà
      Ah oui
      Très bien
      C'est ça
      Entendu
      Je comprends.`,
    answers: `
      Non
      Attendez
      Oui, mais
      Stop
      Arrêtez
      Pardon ?
      Comment ?
      Un instant
      Ce n'est pas ça
      Encore une fois
      Quoi ?`,
  },
  decisions: {
    accepted: `
      Oui.
      Oui, bien sûr
      D'accord
      Passez-le-moi
      Pas de problème, passez-le-moi
      Pourquoi pas
      Volontiers
      Allez-y
      Ouais
      Okay
      J'accepte
      Avec plaisir`,
    declined: `
      Non.
      Pas maintenant
      Je ne peux pas
      Je suis occupé
      Plus tard
      Non merci
      Je refuse
      Jamais
      Une autre fois
      Pas tout de suite
      Je n'ai pas le temps`,
    undecided: `
      Qui est-ce ?
      C'est à quel sujet ?
      Je ne sais pas
      Comment ?
      Allô ?
      Je n'ai pas compris
      Je ne suis pas sûr
      Je n'ai pas entendu
      Un instant
      C'est de la part de qui ?
      Pouvez-vous répéter ?`,
  },
  greetings: {
    machines: `
      Laissez un message après le bip.
      Vous êtes bien sur mon répondeur, laissez un message.
      Vous êtes sur la messagerie d'Anne.
      Laissez-moi un message, je vous rappellerai.
      Veuillez laisser votre message après le signal sonore.
      La boîte vocale de votre correspondant est pleine.
      Votre correspondant n'est pas joignable, laissez un message.
      Le numéro que vous avez composé n'est pas attribué.
      Merci de laisser vos coordonnées après le bip.
      Je vous rappellerai dès que possible.
      Parlez après le bip sonore.
      Vous pouvez laisser un message.`,
    people: `
      Je ne peux pas vous répondre, je suis au volant.
      Vous m'avez laissé un message sur mon répondeur ce matin ?
      Voulez-vous laisser un message ?
      Comment puis-je vous aider ?
      Allô, bonjour.
      Je suis en réunion, rappelez-moi.
      C'est de la part de qui ?
      Un instant, s'il vous plaît.
      Vous vous êtes trompé de numéro.
      Qui est à l'appareil ?
      Je suis occupée, c'est pour quoi ?
      J'ai eu votre message sur ma messagerie.
      Souhaitez-vous laisser un message ?`,
  },
})
