import { checkEveryday } from './check.ts'

checkEveryday('it', {
  beginnings: `
    È il tre tre tre
    Il numero è lo zero due
    Il mio cellulare è tre quattro sette
    Tre quattro
    Il numero della carta è 4929
    Carta numero 4929
    Mi chiamo Nguyen, N G U
    N come Napoli
    N come Napoli, G come Genova
    Con due emme
    Con la doppia M
    La mail è sam punto
    sam punto lee chiocciola
    La mail è sam chiocciola gmail punto
    La via è
    Sarebbe possibile
    Sarebbe così gentile da
    Volevo
    Volevo sapere se
    Mi piacerebbe sapere
    Può dirmi se
    Quanto
    A che ora
    Ho
    Devo
    Un minutino
    Un attimino
    Mi dia un secondo
    Mi dia un attimo
    Ci sto pensando
    Aspetti che guardo
    Adesso glielo dico
    Mmm
    Eeeh
    Beh ehm
    Cioè voglio dire
    Il codice della prenotazione è A B
    La targa è A B
    Il mio compleanno è il 3
    Sono nata il 4
    Il mio interno è
    E poi
    Credo
    Credo che fosse il
    Tra
    Buongiorno, mi chiamo
    Chiamo perché
    Volevo chiedere se`,
  sentences: `
    Vorrei disdire il mio appuntamento.
    Mi chiamo Mario Rossi.
    Abito in via Roma 12.
    Alle tre del pomeriggio.
    Ho due figli.
    Era nel 2019.
    Ho 35 anni.
    Grazie mille.
    Mi va bene.
    No, è tutto.
    Sì, è giusto.
    Quali sono gli orari?
    Lunedì alle nove e mezza.
    Due pizze per favore
    Il mio ordine non è arrivato.
    Vorrei parlare con una persona.
    Nient’altro, grazie.
    Quindici.
    Cinque.
    Sì, lo faccio.
    Nessuna idea.
    È per mia madre.
    Il 5 maggio.
    Un tavolo per sei.
    Domani mattina
    Sì, è il mio numero.
    Per me va bene.
    Ho chiamato ieri.
    Camera 204.
    Il prezzo era 49,99.
    Ho aspettato un’ora.
    20 euro.
    Il dodici.
    Non proprio.
    Aspetto da lunedì.
    Sono un nuovo cliente.
    Buongiorno.
    Ciao.
    Ho dimenticato il PIN.
    Posso pagare con carta?
    Il mio telefono è rotto.
    Siamo in quattro.
    Uno o due.
    Sì, posso.
    Non ce l’ho.
    L’ho dimenticato.
    Chi è?
    Credo di sì.
    Grazie, arrivederci.
    Non è possibile.
    Come sta?
    Bene, e lei?
    Mi richiami, per favore.
    Sono d’accordo.
    Per me è uguale.
    Non la capisco.
    Me lo mandi.
    Lo voglio.
    Certo che sì
    Come vuole.
    È così.
    Eccolo.
    Ecco.
    Non glielo so dire.
    Non lo posso sapere.
    La mia macchina è rotta.
    La risposta è no.
    Mio figlio ha cinque anni.
    L’indirizzo è giusto.
    Sono nato nel 1980.
    Non voglio niente.
    La richiamo.
    A domani.
    A presto.
    Camera doppia.
    Cerco casa.
    Non lo conosco.
    Ne ho una.
    Mi dispiace.
    Me lo dica.
    Prendo tutti e due.
    Vengo alle 10.
    È il mio nome.
    Ne ho due.
    Siamo quattro.
    Suppongo.
    Va bene così.
    Il primo.
    La prima.
    È da portare via.
    Anch’io.
    Lo so già.
    Non importa.
    Era chiuso.
    È lunedì.
    Due notti.
    Quando vuole.
    Sono io.
    Qui.
    È mio.
    Sì, ci sono.
    La porta è chiusa.
    Mio marito è qui.`,
})
