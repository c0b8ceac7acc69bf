import { announcing } from './announcing.ts'
import type { LanguageWords } from './language-words.ts'
import { numeralTable } from './numerals.ts'

/**
 * Words that may come between an announcement such as "il mio numero" and the number. "Il mio cellulare è un iPhone 12"
 * announces no number.
 */
const links =
  'è|il|lo|la|le|mio|mia|numero|di|del|telefono|cellulare|fisso|casa|seguente|più|prefisso|al|sarebbe|allora|credito|il seguente'

export const italian: LanguageWords = {
  turns: {
    backchannels:
      'sì|si|già|certo|esatto|esattamente|giusto|bene|va bene|capisco|ho capito|perfetto|daccordo|ah ecco|ecco|eh|ehm|naturalmente|ottimo|benissimo|proprio così|vero',
    unfinished:
      'e|ed|o|oppure|ma|però|che|mentre|il|lo|la|i|gli|le|un|di|del|dello|della|dei|degli|delle|a|al|allo|alla|ai|agli|alle|da|dal|dallo|dalla|dai|dagli|dalle|in|nel|nello|nella|nei|negli|nelle|con|sul|sullo|sulla|sui|sugli|sulle|per|tra|fra|senza|verso|né|cioè|quindi|siccome|poiché|affinché|finché|visto che|anche se|dato che|perché io|e se|ma se|sapere se|ogni|qualche|circa|mi chiamo|il mio nome è|il mio cognome è|numero è|telefono è|nome è|cognome è|indirizzo è|mail è|codice è|problema è|domanda è|iban è|si scrive|si scrive con|chiocciola|trattino|trattino basso|chiamo per|chiamavo per|sto chiamando per|la chiamo per|a proposito|riguardo|per quanto riguarda|a causa|invece di|prima di|per esempio|ad esempio|vale a dire|molto più|devo|dovrei|mi|e poi|o magari|o forse|credo che|penso che|sto per',
    particles:
      'mia|uno|una|questo|questa|questi|queste|quello|quella|come|dove|quando|perché|su|se|punto|dopo|durante|contro|posso|più o meno|nessun|alcuni|credo|penso|ho|devo|era|sono|mio|miei|mie|tuo|tua|suo|sua|nostro|nostra|vostro|vostra',
    openings: 'per favore|allora|senta|scusi|dunque|beh|bè|ecco',
    hesitations:
      'ehm|eh|mmm|mm|hm|hmm|uhm|beh|bè|boh|un attimo|un attimo solo|un attimino|un attimo per favore|solo un attimo|un momento|un momento per favore|un momentino|solo un momento|un secondo|un secondo solo|un secondo per favore|solo un secondo|aspetti|aspetta|aspetti un attimo|aspetta un attimo|aspetti un momento|aspetti un secondo|attenda|attenda un attimo|mi faccia pensare|fammi pensare|mi lasci pensare|lasciami pensare|ci devo pensare|mi faccia vedere|fammi vedere|mi faccia controllare|mi faccia guardare|vediamo|vediamo un po|sto pensando|sto cercando|come si dice|come dire|come posso dire|come si chiama|cosa volevo dire|dove ero rimasto|dove ero rimasta|diciamo|non so come dire|controllo subito|guardo subito|un minuto|un minutino|minutino|adesso glielo dico|glielo dico subito|ora glielo dico|ci sto pensando|voglio dire|cioè voglio dire|comera|com era|non mi ricordo|non ricordo',
    winsTime:
      /(?:^| )(?:(?:mi faccia|fammi|mi lasci|lasciami) (?:\p{L}+ ){0,2}(?:vedere|pensare|controllare|guardare|cercare|verificare|ricordare)(?: \p{L}+){0,4}|(?:aspett[ia] )?che (?:guardo|controllo|vedo|cerco|verifico)(?: \p{L}+){0,2}|(?:mi dia|dammi|aspett[ia]) un (?:attim|moment|second|minut)\p{L}+(?: per favore)?)$/u,
    fillers: 'allora|dunque|cioè|insomma|diciamo|praticamente|tipo|beh|bè|senta|guardi',
    begunRequests:
      'vorrei|vorrei sapere|vorrei sapere se|volevo|volevo sapere|volevo sapere se|volevo chiedere|voglio|ho bisogno|ho bisogno di|avrei bisogno|avrei bisogno di|mi servirebbe|cerco|sto cercando|può|potrebbe|puoi|potresti|potete|potreste|mi può|mi potrebbe|mi puoi|mi potete|ci può|può dirmi|potrebbe dirmi|mi può dire|mi potrebbe dire|mi sa dire|mi saprebbe dire|sa dirmi|saprebbe dirmi|saprebbe|sarebbe possibile|è possibile|sarebbe così gentile da|potrei|possiamo|potremmo|posso avere|posso chiedere|avete|avreste|avrebbe|le dispiacerebbe|le dispiace|mi chiedevo|mi chiedevo se|ho una domanda su|ho una domanda sul|ho una domanda sulla|cè un|cè una|quanto|quanti|quante|quanto costa|mi dica|mi dia|mi dà|gradirei|desidero|desidererei|mi piacerebbe|mi piacerebbe sapere|a che ora|dove posso|come posso|quando posso|posso parlare con|vorrei parlare con|potrei parlare con|potrei avere|volevo chiedere se|mi interessa|mi interesserebbe|le chiedo se|volevo solo',
    softeners:
      'per favore|per cortesia|per piacere|gentilmente|cortesemente|magari|forse|anche|mi|ci|dirmi|darmi|aiutarmi a|un attimo|velocemente|già|sapere|chiedere|chiederle|dire|se|solo',
    determiners: 'il|la|lo|mio|mia|nostro|nostra',
    complete:
      'se può|se potete|se puoi|sì può|no non può|non può|quando può|quando vuole|appena può|se possibile|non è possibile|quello che voglio|quello che vorrei|quello che volevo|quello che cerco|è quello che volevo|tutto quello che volevo|non voglio|lo voglio|li voglio|la voglio|non ho bisogno|ci vediamo|tra un attimo|fra un attimo|tra un momento|fra un momento|al momento|per il momento|in questo momento|in un attimo|tra un secondo|grazie a lei|lo so|non lo so|se avete|quanto voglio|non avete|non cerco|ce lho|non ne ho|ne ho|lo devo|ci sono|eccomi sono qui|non ci sono|quello che ho|quel che ho|così credo|lo credo|sì ci sono|chi sono|quanti sono|quante sono|non ho|si può dire|come si può dire|sì posso|certo che posso|è mio|è mia|sono miei',
  },
  dictation: {
    numerals: () =>
      numeralTable({
        digits: 'zero uno/un/una due tre/tré quattro cinque sei sette otto nove',
        teens: 'dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove',
        tens: 'venti trenta quaranta cinquanta sessanta settanta ottanta novanta',
        join: (ten, digit) => [/^[uo]/.test(digit) ? `${ten.slice(0, -1)}${digit}` : `${ten}${digit}`],
        hundred: (digit) => (digit === '' ? ['cento'] : [`${digit}cento`]),
        links: ['', ' '],
        others: { doppio: '*', doppia: '*', triplo: '**' },
      }),
    announcements: [
      { words: announcing('iban', links), code: 'iban' },
      { words: announcing('codice fiscale', links), code: 16 },
      { words: announcing('carta(?: di credito| di debito| prepagata| bancomat)?', links), digits: 15 },
      { words: announcing('codice di sicurezza|cvv|cvc', links), digits: 3 },
      { words: announcing('cap|codice (?:di avviamento )?postale', links), digits: 5 },
      { words: announcing('partita iva', links), digits: 11 },
      { words: announcing('(?:numero (?:di |del )?)?conto(?: corrente)?', links), digits: 8 },
      {
        words: announcing(
          '(?:numero|codice) (?:di |del |della )?(?:cliente|contratto|polizza|pratica|prenotazione|tessera|ordine|fattura|riferimento|socio|paziente)',
          links,
        ),
        digits: 4,
      },
      { words: announcing('pin|codice(?: segreto| di accesso| di verifica)?|password', links), digits: 4 },
      {
        words: announcing('telefono|cellulare|fisso|whatsapp|(?:mio|suo|nostro|il|altro|nuovo) numero|prefisso', links),
        digits: 'phone',
      },
      {
        words:
          /(?<!\p{L})(?:(?:chiamar|richiamar|raggiunger|contattar|trovar)mi (?:al|allo)|mi (?:chiami|richiami|trova|contatti) (?:al|allo))(?: più)?$/u,
        digits: 'phone',
      },
      { words: announcing('data di nascita|compleanno|nato|nata', links), digits: 3 },
      { words: announcing('(?:data di )?scadenza', links), digits: 4 },
    ],
    phoneForms: [
      { starts: /^3/, digits: 10 },
      { starts: /^0/, digits: 9 },
    ],
    is: 'è|sarebbe',
    plus: 'più|piu',
    mail: {
      announcements: 'e ?mail|mail|posta elettronica|indirizzo (?:e ?mail|mail|di posta elettronica|di posta)',
      at: 'chiocciola|at',
      dot: 'punto',
      remarks:
        'non|sbagliata|sbagliato|corretta|corretto|giusta|giusto|nuova|nuovo|vecchia|vecchio|piena|pieno|quella|quello|la|il|sempre|molto|già|importante|una|un|errata|errato|questa',
    },
    spelling: {
      announcements: '(?:si scrive|scritto|scritta|faccio lo spelling|si pronuncia)(?: con| così| la| una){0,2}',
      asIn: 'come in',
      like: 'come|di',
      twice: 'doppia|doppio|due',
      letterNames: 'effe|acca|elle|emme|enne|erre|esse|zeta|bi|ci|di|gi|pi|ti|vi|qu|cappa|ics',
      letterWords: 'e a|e è|o a|è a|a i|e i|i a|o è|e o|o k|t v|a e|a o',
      alphabet:
        'ancona bari bologna como domodossola empoli firenze genova hotel imola jolly kursaal livorno milano napoli otranto padova palermo quadro quarto roma savona torino udine venezia washington xilofono xeres york yogurt zara',
    },
  },
  agent: {
    fallback: 'Mi scusi, in questo momento non riesco a rispondere. Può ripetere?',
    toolLeadIn: 'Un momento, per favore.',
    screeningQuestion: 'Per accettare la chiamata, prema 1 o dica sì. Per rifiutarla, prema 2 o dica no.',
    screeningReason: 'Buongiorno. Ho una chiamata per lei.',
    summaryIntroduction: 'Il chiamante ha detto:',
  },
  decisions: {
    yes: 'sì|si|certo|certamente|accetto|daccordo|va bene|me lo passi|volentieri|perché no|nessun problema|non cè problema|non ci sono problemi|senza problemi|con piacere|me la passi|passamelo|passamela|me lo passa|ok|okay|bene|benissimo|perfetto|lo prendo|la prendo|prego|assolutamente sì|come no',
    no: 'no|non|rifiuto|occupato|occupata|più tardi|mai|altra volta|unaltra volta|un altro momento|impossibile|assolutamente no|niente affatto|nemmeno per sogno',
    undecided:
      'non lo so|non so|non saprei|non ho capito|non capisco|non sono sicuro|non sono sicura|non ho sentito|non sento|non la sento|non ho idea|sì pronto|sì chi|pronto sì|sì buongiorno|sì mi dica|si tratta|cosa si tratta|come si|che si|chi si|non si|si può sapere',
    postponed:
      'non ora|non adesso|ora no|adesso no|non oggi|oggi no|non ancora|in questo momento no|più tardi|dopo|unaltra volta|un altro momento|domani|la prossima settimana',
  },
  greetings: {
    voicemail:
      'segreteria telefonica|casella vocale|lasciare un messaggio|lasciate un messaggio|lasci un messaggio|dopo il segnale|dopo il bip|non è raggiungibile|lasciami un messaggio|lasciate il vostro nome|lascia un messaggio|lasciateci un messaggio|lasci il suo nome|richiamerò appena possibile|richiameremo appena possibile|al momento raggiungibile|non è al momento raggiungibile|inesistente|potrebbe essere spento|essere spento|segnale acustico|parlate dopo|parli dopo|nostra segreteria',
    excuse: 'non posso rispondere|non posso parlare',
    busy: 'sto guidando|sono in riunione|sono occupato|sono occupata|sto lavorando|mi richiami|richiamami|un momento|un attimo',
    ambiguous: 'non è disponibile',
    person:
      'vuole lasciare|desidera lasciare|come posso aiutarla|come posso esserle utile|in cosa posso aiutarla|chi parla|con chi parlo|mi ha lasciato|mi hai lasciato|ha lasciato un messaggio|sentito il suo messaggio|ascoltato il suo messaggio|ricevuto il suo messaggio|messaggio in segreteria|di cosa si tratta|vuoi lasciare|posso prendere un messaggio|chi è lei|posso esserle utile|sbagliato numero|ha sbagliato',
    conversing: 'dica il suo nome|motivo della chiamata|prema 1|prema uno|prema il tasto|resti in linea',
  },
  transferRequests:
    'mi passi|mi passa|passarmi|mi trasferisca|trasferirmi|mi metta in contatto|parlare con|un operatore',
}
