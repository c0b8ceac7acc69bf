import { checkLanguage } from './check.ts'

checkLanguage('it', {
  numbers: {
    holds: `
      Il mio CAP è 20
      Il codice postale è due zero
      Il mio numero cliente è 12
      Il numero di contratto è quattro sette
      Il mio numero di conto è 3000
      Il codice di sicurezza è 12
      La mia data di nascita è il 12
      Il mio IBAN è IT60
      Il mio IBAN è IT60 X054 2811
      È il 47 11
      Il mio codice fiscale è RSSMRA80
      La partita IVA è 123 456
      Il mio PIN è 4
      Il CAP è venti
      Il codice cliente è ventitré
      Il numero della pratica è`,
    ends: `
      Il mio CAP è 20121
      Il mio numero di ordine è 4711
      Il codice di errore è 12
      Il mio numero di conto è 12345678
      Il codice di sicurezza è 123.
      Il mio codice fiscale è RSSMRA80A01H501U
      La mia data di nascita è il 12 3 1980
      Alle 10:30.
      Il 12/05/2024.
      Costa 4,50
      Ho venticinque anni
      Trentotto
      Il mio IBAN è IT60 X054 2811 1010 0000 0123 456
      Camera 12
      Non ho un IBAN.
      Il mio PIN è 1234`,
  },
  cards: {
    holds: `
      La mia carta è la 4111
      Il numero della mia carta è 4111 1111
      La mia carta di credito è 4111 1111 1111
      Il numero della carta è quattro uno uno uno
      La mia carta di debito è la 5500
      Il numero di carta è quarantuno undici
      La mia carta prepagata è 3782 822463
      Il numero della mia carta è 4111 1111 1111 11.
      La carta è 4000
      La mia carta è doppio zero
      Il numero della carta è`,
    ends: `
      La mia carta è la 4111 1111 1111 1111
      La mia carta è 3782 822463 10005
      Il numero della mia carta è 4111111111111111.
      Mi hanno rubato la carta.
      Vorrei pagare con carta
      La mia carta scade nel 27
      La mia carta finisce con 42
      Ho due carte
      Ho perso la carta
      La scadenza è 12 27
      La mia carta è valida?`,
  },
  phones: {
    holds: `
      Il mio numero è 333
      Il mio numero è il tre tre tre
      Il mio numero è 333 123
      Può chiamarmi al 333
      Il mio cellulare è 333 123 45
      Il mio numero è trecentotrentatré
      Il mio numero è +39 333
      Il mio telefono è 02 12
      Mi richiami allo 02
      È il 3 3 3
      Il mio numero è 333.
      Il mio numero è più trentanove
      Mi trova al 347
      Il mio fisso è zero sei
      Il numero è 333 12 34
      Il mio numero di telefono è`,
    ends: `
      Il mio numero è 333 123 4567
      Il mio numero è 3331234567.
      Il mio numero è tre tre tre uno due tre quattro cinque sei sette
      Il mio numero è trecentotrentatré centoventitré quarantacinque sessantasette
      Il mio numero è +39 333 123 4567
      Il mio telefono è 02 1234567
      Il mio cellulare è un iPhone 12
      Il mio numero è cambiato
      Ha già il mio numero.
      Mi chiami domani.
      Mi chiami alle 5.
      È il numero sbagliato.`,
  },
  spelling: {
    holds: `
      Mi chiamo Rossi, R O S
      R-O-S
      Si scrive con la B
      B come Bologna
      B come Bologna, A come Ancona
      D di Domodossola
      Doppia S
      Bianchi, B I A
      Scritto con K
      Il codice è X 7 K
      Il mio nome si scrive
      Ancona Bologna Como
      N di Napoli, U di Udine`,
    ends: `
      Mi chiamo Rossi, R O S S I
      Bruni. B-R-U-N-I.
      Mi chiamo Rossi.
      Piano B
      Vitamina C
      Come si scrive?
      Sono di Bologna
      È scritto male
      L'ho visto in T V
      Mi chiamo Anna
      Abito a Roma
      Vado da Roma a Milano`,
  },
  mail: {
    holds: `
      La mia mail è anna
      La mia mail è anna punto
      Il mio indirizzo mail è anna punto rossi
      La mia mail è anna chiocciola
      La mia mail è anna chiocciola esempio
      La mia e-mail è anna chiocciola esempio punto
      È anna.rossi@esempio
      anna@
      Il mio indirizzo e-mail è anna trattino basso
      La mia mail è
      Anna punto rossi chiocciola gmail
      La mia e-mail è info trattino`,
    ends: `
      La mia mail è anna chiocciola esempio punto it
      La mia mail è anna.rossi@esempio.it
      È anna@esempio.com.
      La mia mail non funziona
      La mia mail è sbagliata.
      Mi mandi una mail.
      Non ho ricevuto la mail
      La mia mail è sempre quella.
      Anna punto rossi chiocciola gmail punto com
      Il mio indirizzo mail è nuovo
      È un buon punto.`,
  },
  hesitations: {
    holds: `
      Ehm
      Ehm...
      Un attimo
      Un attimo.
      Un attimo, per favore.
      Aspetti
      Mi faccia pensare.
      Vorrei un tavolo, ehm
      Vediamo
      Vediamo un po'.
      Allora
      Sì, allora
      Un secondo
      Come dire
      Cioè
      Dunque
      Mi lasci pensare
      Beh
      Solo un momento.
      Aspetti un attimo`,
    ends: `
      Non lo so.
      Ci vediamo.
      Aspetto la sua chiamata.
      Al momento
      Arrivo tra un attimo.
      Ci penso io.
      È un bel momento per partire.
      Vorrei questo.
      Va bene
      Niente
      No grazie
      La penso così`,
  },
  requests: {
    holds: `
      Potrebbe
      Potrebbe per favore
      Mi potrebbe
      Potrebbe dirmi
      Può
      Vorrei
      Vorrei.
      Volevo sapere
      Ho bisogno di
      Avrei bisogno di
      Sarebbe possibile
      Chiamo per
      Avete
      Potrei
      Vorrei un tavolo per
      Mi chiedevo se
      Ho una domanda su
      Può gentilmente
      Mi sa dire
      Sto cercando`,
    ends: `
      Mi potrebbe aiutare?
      Vorrei un tavolo per due.
      È tutto quello che volevo.
      Non posso.
      Sì, per favore
      Sì, può.
      Vorrei questa.
      Cerco un tavolo
      Avete un tavolo per stasera?
      Mi dica il prezzo.
      No, grazie
      Quando vuole.
      Ne voglio uno.
      Non so come.`,
  },
  backchannels: {
    listens: `
      Sì, certo
      Certo.
      Ho capito.
      Mhm
      Va bene
      D'accordo
      Esatto
      Capisco
      Perfetto
      Ah ecco
      Giusto
      Benissimo`,
    answers: `
      No
      Aspetti
      Sì, ma
      Stop
      Basta
      Come?
      Un attimo
      Non è così
      Scusi
      Ancora una volta
      Cosa?`,
  },
  decisions: {
    accepted: `
      Sì.
      Sì, certo
      Certo
      Va bene
      Me lo passi
      Nessun problema, me lo passi
      Non c'è problema, me lo passi
      D'accordo
      Perché no
      Volentieri
      Okay
      Accetto`,
    declined: `
      No.
      Non posso
      Adesso no
      Sono occupato
      Più tardi
      No grazie
      Rifiuto
      Mai
      Un'altra volta
      Non adesso
      Non ho tempo`,
    undecided: `
      Chi è?
      Di cosa si tratta?
      Non lo so
      Non so
      Come?
      Pronto?
      Non ho capito
      Non sono sicuro
      Non ho sentito
      Un attimo
      Può ripetere?`,
  },
  greetings: {
    machines: `
      Lasciate un messaggio dopo il segnale acustico.
      Questa è la segreteria telefonica di Anna.
      Lasci un messaggio dopo il bip.
      Risponde la casella vocale.
      Il cliente da lei chiamato non è al momento raggiungibile.
      Il numero da lei chiamato è inesistente.
      Lasciami un messaggio e ti richiamo.
      Lasciate il vostro nome e numero.
      La richiamerò appena possibile.
      Il telefono della persona chiamata potrebbe essere spento.
      Potete lasciare un messaggio.
      Parlate dopo il segnale.`,
    people: `
      Non posso rispondere, sto guidando.
      Mi ha lasciato un messaggio in segreteria telefonica?
      Vuole lasciare un messaggio?
      Pronto, chi parla?
      Pronto.
      Sono in riunione, mi richiami.
      Come posso aiutarla?
      Un attimo, per favore.
      Ha sbagliato numero.
      Con chi parlo?
      Sono occupata, di cosa si tratta?
      Ho sentito il suo messaggio in segreteria telefonica.
      Desidera lasciare un messaggio?`,
  },
})
