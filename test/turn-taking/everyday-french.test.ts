import { checkEveryday } from './check.ts'

checkEveryday('fr', {
  beginnings: `
    C’est le zéro six
    Le numéro c’est le 01
    Mon portable c’est 07
    Zéro sept, quatre-vingts
    Le numéro de la carte est 4929
    Carte numéro 4929
    Je m’appelle Nguyen, N G U
    N comme Nicolas
    N comme Nicolas, G comme Gaston
    Avec deux M
    Avec un accent aigu et
    Mon mail c’est sam point
    sam point lee arobase
    Le mail est sam arobase gmail point
    La rue est
    Est-ce qu’il serait possible de
    Est-ce que je pourrais
    Auriez-vous l’amabilité de
    Je voulais
    Je voulais savoir si
    J’aimerais savoir
    Pouvez-vous me dire si
    Combien
    À quelle heure
    J’ai
    Je dois
    Une petite minute
    Un petit moment
    Donnez-moi une seconde
    Je réfléchis un instant
    Attendez voir
    Je vous dis ça tout de suite
    Mmm
    Euuuh
    Bah euh
    Enfin je veux dire
    C’est-à-dire que
    Le numéro de réservation est A B
    La plaque est A B
    Mon anniversaire est le 3
    Je suis née le 4
    Mon poste est le
    Et puis
    Je crois
    Je crois que c’était le
    Entre
    Bonjour, je m’appelle
    J’appelle parce que
    Je voulais demander si`,
  sentences: `
    Je voudrais annuler mon rendez-vous.
    Je m’appelle Jean Martin.
    J’habite 12 rue de la Paix.
    À quinze heures.
    J’ai deux enfants.
    C’était en 2019.
    J’ai 35 ans.
    Merci beaucoup.
    Ça me va.
    Non, c’est tout.
    Oui, c’est ça.
    Quels sont vos horaires ?
    Lundi à neuf heures et demie.
    Deux pizzas s’il vous plaît
    Ma commande n’est pas arrivée.
    Je veux parler à quelqu’un.
    Rien d’autre, merci.
    Quinze.
    Cinq.
    Oui, je le fais.
    Aucune idée.
    C’est pour ma mère.
    Le 5 mai.
    Une table pour six.
    Vers 19h45.
    Demain matin
    Oui, c’est mon numéro.
    Ça me convient.
    J’ai appelé hier.
    Chambre 204.
    Le prix était de 49,99.
    J’ai attendu une heure.
    20 euros.
    Le douze.
    Pas vraiment.
    J’attends depuis lundi.
    Je suis nouveau client.
    Bonjour.
    Bonsoir.
    J’ai oublié mon code.
    Je peux payer par carte ?
    Mon téléphone est cassé.
    Nous sommes quatre.
    Un ou deux.
    Oui, je peux.
    Je n’en ai pas.
    J’ai oublié.
    Qui est-ce ?
    Je crois que oui.
    Merci, au revoir.
    Ce n’est pas possible.
    Comment allez-vous ?
    Bien, et vous ?
    Rappelez-moi, s’il vous plaît.
    Je suis d’accord.
    Ça m’est égal.
    Je ne vous comprends pas.
    Envoyez-le-moi.
    Donnez-la-moi.
    Bien sûr que oui
    Comme vous voulez.
    C’est le mien.
    Laissez-le.
    Allez-y.
    Ça y est.
    Je n’ai pas compris.
    Je ne peux pas vous le dire.
    Je ne le sais pas.
    Ma voiture est en panne.
    La réponse est non.
    Mon fils a cinq ans.
    L’adresse est correcte.
    Je suis né en 1980.
    Je ne veux rien.
    Je vous rappelle.
    À demain.
    À bientôt.
    Chambre double.
    Je cherche un appartement.
    Je ne le connais pas.
    J’en ai une.
    Je suis désolé.
    Dites-le-moi.
    Je prends les deux.
    Je viens à 10 heures.
    C’est mon nom.
    J’en ai deux.
    On est quatre.
    Je suppose.
    C’est bon.
    Le premier.
    La première.
    C’est à emporter.
    Moi aussi.
    Je le sais déjà.
    Peu importe.
    C’était fermé.
    C’est lundi.
    Deux nuits.
    Quand vous voulez.
    C’est moi.
    Ici.
    C’est à moi.
    Oui, très bien.
    Mon mari est là.
    La porte est fermée.`,
})
