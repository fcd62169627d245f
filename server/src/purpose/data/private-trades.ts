import type { Trade } from './trade-shape.ts';

/** Goods of private life, and goods that are money in another form. See `Trade` for the notation and its source. */
export const PRIVATE_TRADES: readonly Trade[] = [
  {
    id: 'gift_cards',
    family: 'cash_like',
    label: 'gift cards and stored value',
    mcc: '6051, 6540',
    words:
      'gift card; gift cards; giftcard; giftcards; gift voucher; gift vouchers; ~voucher; vouchers; store credit; prepaid card; prepaid visa; prepaid mastercard; stored value; wallet code; wallet top-up; reload card; redeem code; ecard; e-gift; egift; gift certificate; gift code; geschenkkarte; geschenkgutschein; gutscheinkarte; guthabenkarte; guthabencode; carte cadeau; bon d achat; chèque cadeau; tarjeta regalo; cadeaukaart; cadeaubon; carta regalo; itunes card; google play card; steam card; amazon card; vanilla visa; presentkort',
    companies:
      'bitrefill; cardpool; raise.com; giftcards.com; blackhawk network; incomm; paysafecard; neosurf; tango card; giftogram; cadooz; wunschgutschein; gyft; egifter; recharge.com; g2a; kinguin; eneba; startselect; prezzee; tremendous; edenred; dundle; amazon gift; apple gift; google play gift; steam gift; visa gift; vanilla gift; mygiftcardsupply; giftcard granny; cardcash; razer gold; paysafe; flexepin; astropay; jeton; skrill; neteller; openbucks; rewarble; driffle; ^g2g; playerauctions; cdkeys; mmoga; gamivo; hrkgame; offgamers; seagm; unipin; codashop; giftpay; rybbon; ^giftbit; wogi; runa; blackhawk; perfectgift; giftcard.com; zap surveys; goldgutschein; bestchoice voucher; one4all; love2shop; perks at work; ^smartbox; mydays; jochen schweizer; buyagift; virgin experience days; wonderbox',
  },
  {
    id: 'crypto',
    family: 'cash_like',
    label: 'cryptocurrency',
    mcc: '6051',
    words:
      'crypto; cryptocurrency; bitcoin; btc; ethereum; ~eth; usdt; usdc; tether; stablecoin; stablecoins; litecoin; monero; xmr; solana; dogecoin; nft; nfts; crypto wallet; seed phrase; onchain; ~staking; altcoin; defi; kryptowährung; criptomonedas; mining rig; hardware wallet',
    companies:
      'coinbase; binance; ^kraken; crypto.com; bitpanda; bitstamp; bybit; okx; kucoin; moonpay; metamask; ledger wallet; trezor; gemini exchange; bitfinex; localbitcoins; opensea; ramp network; changelly; paxful; uniswap; bitvavo; blockchain.com; bison app; bitpay; swan bitcoin; bitget; gate.io; huobi; ^htx; mexc; upbit; coincheck; bitflyer; luno; coinspot; independent reserve; swyftx; btc markets; coinmama; ^simplex; banxa; transak; wyre; ^ramp; mercuryo; guarda; exodus wallet; trust wallet; phantom wallet; ^electrum; tangem; keepkey; circle internet; ^tether; paxos; nexo; celsius; blockfi; river financial; cash app bitcoin; strike bitcoin; relai; pocket bitcoin; bitrefill; cex.io; poloniex; bittrex; bitmex; deribit; ^ftx; blur.io; rarible; magic eden; dydx; 1inch; pancakeswap; curve finance; ^lido; bitdeer; bitmain; nicehash; genesis mining; hashflare; localcryptos; hodlhodl; bitcoin depot; coinflip; athena bitcoin; bitcoin well; shakepay; wealthsimple crypto; coinjar; ^moonshot',
  },
  {
    id: 'money_transfer',
    family: 'cash_like',
    label: 'transfers of money to persons',
    mcc: '4829, 6050, 6211',
    words:
      'money transfer; wire transfer; cash advance; cash withdrawal; western union; money order; remittance; friends and family; personal account; private account; send money; cash pickup; bargeld; überweisung an; lend money; personal loan; payday loan; foreign exchange; ~cash; ~bail',
    companies:
      'western union; moneygram; venmo; cash app; ^zelle; wise transfer; remitly; worldremit; ria money; xoom; revolut; twint; bizum; ^swish; tikkie; gofundme; ^lydia; paypal friends; ^ria; azimo; transfergo; paysend; ^wise; transferwise; currencyfair; ^ofx; xe money; skrill transfer; square cash; apple cash; google pay send; chime pay; dave advance; earnin; brigit; moneylion; payday express; wonga; quickquid; speedy cash; advance america; ace cash express; check into cash; cashnetusa; vexcash; cashper; ferratum; leetchi; ^pix; m-pesa; mpesa; orange money; mtn mobile money; gcash; paymaya; paytm; phonepe; alipay transfer; wechat pay; sadapay; small world; sendwave; lemfi; nala; taptap send; intermex; boss revolution; dahabshiil; unistream; contact transfer; zolotaya korona',
  },
  {
    id: 'investments',
    family: 'cash_like',
    label: 'shares and investments',
    mcc: '6211',
    words:
      '~shares; ~stocks; etf; etfs; mutual fund; ~bonds; options trading; forex; cfd; gold bars; gold bullion; bullion; silver coins; gold coins; krugerrand; brokerage; ~portfolio; aktien; wertpapiere; actions bourse; trading account; ~securities; crowdfunding stake',
    companies:
      'robinhood; etrade; charles schwab; fidelity; vanguard; trade republic; scalable capital; etoro; interactive brokers; degiro; plus500; td ameritrade; comdirect; saxo; ig markets; degussa goldhandel; pro aurum; apmex; acorns; wealthfront; betterment; ^xtb; xm group; ig group; cmc markets; avatrade; pepperstone; oanda; forex.com; ic markets; fxpro; exness; naga; trading 212; freetrade; hargreaves lansdown; aj bell; interactive investor; vanguard investor; ^nutmeg; moneybox; ^stash; sofi invest; webull; firstrade; m1 finance; public.com; tastytrade; tradestation; ally invest; merrill edge; e-trade; e*trade; fidelity investments; schwab; blackrock; ishares; invesco; amundi; ^dws; flatex; onvista; smartbroker; consorsbank; ing diba depot; justtrade; finanzen.net zero; ^bux; ^lynx; boursorama; fortuneo; bourse direct; directa; fineco; swissquote; postfinance e-trading; quantfury; wealthsimple; questrade; commsec; selfwealth; zerodha; groww; upstox; seedrs; crowdcube; republic.co; wefunder; mintos; bondora; peerberry; lendingclub; ^prosper; ftmo; topstep; apex trader; ^kinesis; bullionvault; goldmoney; jm bullion; sd bullion; money metals; kitco; royal mint bullion; perth mint; heubach; esg goldhandel; philoro; anlagegold24',
  },
  {
    id: 'gaming',
    family: 'gaming',
    label: 'video games',
    mcc: '5816, 5945, 7994',
    words:
      'video game; video games; game console; gaming console; console games; playstation; ps5; ps4; xbox; nintendo; nintendo switch; game pass; v-bucks; robux; gaming chair; ~gaming; steam deck; loot box; loot boxes; battle pass; in-game; ~skins; dlc; game credits; twitch subs; videospiel; jeu vidéo; videojuego; gamer; dualsense; joystick; minecraft; fortnite; fifa points; oculus quest; board game; board games; ~puzzle; ~lego',
    companies:
      '^steam; ^valve; steam games; steampowered; nintendo; nintendo eshop; playstation; playstation store; sony interactive; xbox; xbox game; epic games; roblox; riot games; blizzard; activision; electronic arts; ea games; ubisoft; gamestop; gog.com; twitch; discord nitro; ^discord; rockstar games; mojang; supercell; king.com; zynga; razer; humble bundle; games workshop; ~lego; hasbro; ^mattel; ravensburger; sony playstation; playstation network; xbox live; microsoft xbox; valve corporation; ^gog; epic games store; battle.net; blizzard entertainment; activision blizzard; ea sports; ubisoft connect; rockstar; take-two; 2k games; bethesda; square enix; capcom; bandai namco; sega; konami; cd projekt; minecraft; fortnite; king digital; niantic; hoyoverse; mihoyo; genshin; tencent games; garena; pubg; krafton; wargaming; gaijin; cloud imperium; star citizen; ^fanatical; green man gaming; instant gaming; gamesplanet; game retail; micromania; ^cex; alienware; secretlab; dxracer; noblechairs; nvidia geforce now; shadow pc; scuf gaming; elgato; turtle beach; ^oculus; meta quest; steam deck; asus rog; backmarket consoles; wizards of the coast; magic arena; pokemon center; funko; chess.com',
  },
  {
    id: 'gambling',
    family: 'gambling',
    label: 'gambling and dating',
    mcc: '7273, 7800-7802, 7995',
    words:
      'casino; casino chips; betting; sports bet; ~bets; wager; lottery; lotto; poker; roulette; slot machine; ~slots; ~bingo; sportsbook; gambling; wetten; sportwetten; glücksspiel; pari sportif; apuestas; dating app; dating; matchmaking; escort',
    companies:
      'bet365; bwin; draftkings; fanduel; pokerstars; tipico; william hill; ladbrokes; paddy power; betfair; unibet; betway; 888 casino; stake.com; lottoland; westlotto; national lottery; caesars; mgm resorts; tinder; ^bumble; ~hinge; match.com; parship; elitepartner; betmgm; betano; winamax; national lottery; sky bet; skybet; ^coral; betfred; ^888; 888casino; 888sport; partypoker; ggpoker; caesars sportsbook; barstool sportsbook; espn bet; betrivers; pointsbet; bovada; betonline; mybookie; ^stake; roobet; rollbit; bc.game; leovegas; mr green; casumo; betsson; nordicbet; comeon; interwetten; bet-at-home; bet3000; neobet; admiralbet; cashpoint; happybet; oddset; lotto24; tipp24; jackpot.com; ^camelot; euromillions; française des jeux; ^fdj; ^pmu; ^sisal; snai; lottomatica; codere; loterias y apuestas; staatsloterij; ^toto; holland casino; ^tab; sportsbet; ladbrokes australia; ^neds; crown casino; ^mgm; wynn; bellagio; the venetian; las vegas sands; prizepicks; underdog fantasy; sorare; okcupid; ^match; eharmony; ^lovoo; badoo; plenty of fish; grindr; ^happn; seeking.com; ashley madison; c-date',
  },
  {
    id: 'streaming',
    family: 'entertainment',
    label: 'entertainment and streaming',
    mcc: '5815, 7829-7841, 7922, 7929',
    words:
      'streaming; ~movie; movies; cinema; movie tickets; music streaming; ~concert; concert tickets; theatre tickets; theater tickets; ~festival; ~opera; ~musical; stadium; football tickets; season ticket; karaoke; bowling; escape room; amusement park; zoo; kino; konzert; konzertkarten; spotify premium; podcast subscription; vinyl records; dvd; blu-ray; nightclub; fan shop; concierto; cinéma; ~party; birthday party; barbecue; bbq; charcoal; family plan; paintball',
    companies:
      'netflix; spotify; disney plus; disney+; hulu; hbo max; ^max; paramount plus; paramount+; ^peacock; apple music; apple tv; youtube premium; amazon prime video; prime video; deezer; ^tidal; soundcloud; ticketmaster; eventim; stubhub; viagogo; live nation; seatgeek; fandango; amc theatres; cineworld; cinemaxx; uci kinowelt; dazn; sky sport; espn; crunchyroll; waipu; patreon; onlyfans; cinestar; odeon; pathé; ^fever; ticketcorner; vivid seats; ^axs; ^hbo; apple tv+; youtube music; qobuz; pandora; siriusxm; funimation; ^sky; sky ticket; wow tv; rtl+; ^joyn; magenta tv; canal+; molotov; now tv; britbox; ^mubi; curiosity stream; ^nebula; discovery+; espn+; fubo; sling tv; ^philo; nba league pass; nfl sunday ticket; f1 tv; ufc fight pass; tickpick; gametime; reservix; see tickets; dice fm; atom tickets; ^amc; ^regal; cinemark; vue cinema; ^pathe; ^ugc; kinepolis; disneyland; walt disney world; universal studios; six flags; europa-park; phantasialand; heide park; legoland; alton towers; merlin entertainments; cirque du soleil; stage entertainment; broadway.com; todaytix; royal opera house; metropolitan opera; twitch',
  },
  {
    id: 'clothing',
    family: 'fashion_and_beauty',
    label: 'clothing and shoes',
    mcc: '5611-5699',
    words:
      'clothes; clothing; t-shirt; t-shirts; shirt; shirts; jacket; jackets; ~coat; ~coats; trousers; jeans; ~dress; dresses; skirt; ~suit; ~suits; tuxedo; sweater; hoodie; hoodies; underwear; lingerie; socks; shoes; shoe; sneakers; running shoes; ~trainers; ~boots; ~heels; sandals; handbag; handbags; ~purse; ~backpack; ~belt; scarf; sunglasses; swimwear; bikini; pyjamas; fashion; outfit; kleidung; jacke; schuhe; ~hose; ~kleid; vêtements; chaussures; veste; ropa; zapatos; kleding; schoenen; ~jas; ~tie; blouse; leggings',
    companies:
      'zalando; asos; h&m; zara; uniqlo; primark; about you; nike; adidas; ^puma; new balance; asics; ^reebok; under armour; levi s; ^gap; old navy; ^next; ^mango; c&a; shein; temu; boohoo; farfetch; net-a-porter; macy s; nordstrom; bloomingdale s; saks fifth avenue; neiman marcus; foot locker; deichmann; zappos; patagonia; the north face; tommy hilfiger; ralph lauren; calvin klein; hugo boss; lululemon; victoria s secret; vinted; birkenstock; dr. martens; marks & spencer; debenhams; john lewis; peek & cloppenburg; breuninger; otto; bonprix; massimo dutti; abercrombie; american eagle; michael kors; skechers; ^converse; ^vans; crocs; timberland; jd sports; esprit; bestsecret; tk maxx; eyerim; pull & bear; bershka; ^stradivarius; ^cos; ^arket; ^weekday; & other stories; ^kik; takko; new yorker; s.oliver; tom tailor; marc o polo; lacoste; ^wrangler; lee jeans; ^diesel; g-star; ^guess; banana republic; j.crew; hollister; urban outfitters; anthropologie; free people; forever 21; prettylittlething; missguided; nasty gal; fashion nova; ^revolve; ssense; mr porter; mytheresa; yoox; the outnet; matchesfashion; gymshark; columbia sportswear; jack wolfskin; vaude; mammut; fjällräven; dr martens; ^ugg; ^clarks; ecco; geox; ^camper; ^snipes; ^dsw; famous footwear; hunkemöller; calzedonia; intimissimi; ^triumph; river island; new look; topshop; selfridges; harrods; galeria; ^manor; ^globus; ^depop; poshmark; vestiaire collective; thredup; stitch fix; rent the runway; suitsupply; charles tyrwhitt; moss bros; men s wearhouse; carhartt; engelbert strauss; ^dickies',
  },
  {
    id: 'beauty',
    family: 'fashion_and_beauty',
    label: 'cosmetics, perfume and spa',
    mcc: '5977, 7230, 7298',
    words:
      'perfume; fragrance; cologne; make-up; makeup; lipstick; mascara; skincare; skin care; cosmetics; face cream; nail polish; shampoo; haircut; hairdresser; hair salon; manicure; massage; massages; spa; spa day; sauna; ~wellness; tattoo; botox; tanning; parfum; kosmetik; friseur; cosmétiques; maquillage; perfumería; eau de toilette; hair dryer; barber; facial',
    companies:
      'sephora; douglas; ulta; ^lush; mac cosmetics; the body shop; l oréal; l oreal; estée lauder; estee lauder; clinique; lancôme; yves rocher; ^rituals; flaconi; marionnaud; kiehl s; l occitane; bath & body works; dyson hair; nyx; maybelline; nivea haus; glossier; urban decay; treatwell; ^notino; fenty beauty; jo malone; dior beauty; kiko milano; ulta beauty; lookfantastic; cult beauty; space nk; boots beauty; lancome; bobbi brown; nars; ^benefit; huda beauty; charlotte tilbury; kylie cosmetics; rare beauty; the ordinary; deciem; drunk elephant; paula s choice; cerave; la roche-posay; vichy; nivea; beiersdorf; eucerin; weleda; lavera; dr hauschka; kneipp; ^aesop; diptyque; byredo; le labo; creed fragrance; chanel beauty; ysl beauty; armani beauty; ^avon; mary kay; oriflame; wella; schwarzkopf; redken; olaplex; ^ghd; braun; philips oneblade; gillette; dollar shave club; harry s; fresha; booksy; planity; supercuts; great clips; toni & guy; ^klier; massage envy; hand & stone; therme; european wax center; ideal image',
  },
  {
    id: 'luxury',
    family: 'luxury',
    label: 'jewellery and luxury goods',
    mcc: '5094, 5944, 5971',
    words:
      'jewellery; jewelry; jeweller; jeweler; necklace; bracelet; earrings; diamond; diamonds; wedding ring; engagement ring; gold ring; pendant; luxury watch; wristwatch; designer bag; ~luxury; yacht; private jet; supercar; fur coat; caviar; fine art; ~antique; antiques; schmuck; juwelier; halskette; armband; ohrringe; ~uhr; bijoux; ~montre; collier; joyería; reloj; sieraden; horloge; rose gold; swiss watch; ~pearls; cufflinks; brooch',
    companies:
      'rolex; omega watches; tag heuer; patek philippe; audemars piguet; cartier; tiffany; tiffany & co; bulgari; bvlgari; swarovski; ^pandora; louis vuitton; gucci; ^prada; hermès; chanel; ^dior; burberry; versace; balenciaga; fendi; saint laurent; montblanc; breitling; iwc; hublot; chopard; van cleef; harry winston; bucherer; ^christ; wempe; chrono24; ^signet; kay jewelers; zales; blue nile; sotheby s; christie s; ferrari; lamborghini; porsche; bentley; rolls-royce; moncler; ^jared; thomas sabo; mejuri; h. samuel; ernest jones; watches of switzerland; ^longines; tissot; bottega veneta; goyard; david yurman; netjets; watchfinder; hermes; celine; loewe; givenchy; valentino; dolce & gabbana; alexander mcqueen; canada goose; loro piana; brunello cucinelli; ermenegildo zegna; tom ford; ^omega; vacheron constantin; jaeger-lecoultre; panerai; tudor watch; zenith watches; richard mille; a. lange; glashütte; nomos; van cleef & arpels; ^graff; mikimoto; christ juweliere; tourneau; james allen; brilliant earth; ^goldsmiths; 77 diamonds; bonhams; phillips auction; heritage auctions; aston martin; maserati; bugatti; vistajet; boat international; sunseeker; rimowa; tumi',
  },
  {
    id: 'home_goods',
    family: 'home',
    label: 'household goods',
    mcc: '5200, 5719, 5722',
    words:
      'household; household items; kitchenware; cookware; ~pan; frying pan; kettle; toaster; ~blender; coffee maker; coffee machine; espresso machine; coffee grinder; ~grinder; vacuum cleaner; washing machine; ~fridge; refrigerator; ~freezer; ~oven; microwave; dishwasher; ~iron ironing; bedding; pillow; pillows; mattress; curtains; carpet; ~rug; ~candles; vase; ~towels; light bulbs; light bulb; ~lamp; air fryer; crockery; plates bowls; cutlery; ~glasses wine; tablecloth; haushalt; küche; bettwäsche; kissen; vorhang; huishouden; ménage; hogar; ~television; ~tv; soundbar; smart watch; smartwatch; fitness tracker; speaker bluetooth; ~camera; ~batteries; extension cord; air purifier; humidifier; robot vacuum; hot tub; ~grill',
    companies:
      'bed bath & beyond; williams-sonoma; dyson; miele; bosch home; siemens hausgeräte; philips; whirlpool; electrolux; le creuset; wmf; tupperware; yankee candle; zara home; the container store; dunelm; sonos; bose; gopro; fitbit; garmin; ^tempur; emma matratzen; casper sleep; hema; blokker; ^action; butlers; ^depot; tchibo; breville; kitchenaid; delonghi; roomba; irobot; peloton; ikea; wayfair; westwing; home24; nanu-nana; søstrene grene; flying tiger; maisons du monde; h&m home; williams sonoma; pottery barn; crate & barrel; ^cb2; west elm; restoration hardware; target home; homegoods; container store; sur la table; staub; zwilling; fissler; rosle; ^silit; tefal; rowenta; krups; moulinex; kenwood; smeg; ^jura; sage appliances; ninja kitchen; sharkninja; instant pot; vitamix; nutribullet; thermomix; vorwerk; roborock; ecovacs; bosch hausgeräte; ^neff; ^aeg; bauknecht; liebherr; gorenje; beko; ^haier; samsung appliances; lg appliances; philips hue; osram; ledvance; paulmann; casper; ^emma; purple mattress; saatva; bett1; bang & olufsen; ^teufel; ^jbl; harman kardon; marshall headphones; ^yeti; stanley 1913; hydro flask; ^thermos; ^brita; sodastream; villeroy; rosenthal; meissen; partylite; weber grill; traeger; big green egg; the range; b&m; wilko; lakeland; argos; leifheit; brabantia; joseph joseph; ^oxo',
  },
  {
    id: 'children',
    family: 'children',
    label: 'baby and children goods',
    mcc: '5641, 5945',
    words:
      '~baby; infant formula; baby formula; nappies; diapers; baby food; stroller; pram; car seat baby; pacifier; crib; ~toys; ~toy; ~doll; teddy bear; kindergarten; daycare; childcare; babysitter; nanny; playground; spielzeug; windeln; kinderwagen; jouet; couches bébé; juguetes; pañales; luiers; speelgoed; school bag; nursery; breast pump',
    companies:
      'toys r us; babymarkt; pampers; huggies; smyths toys; mothercare; carter s; buybuy baby; fisher-price; playmobil; hipp; bugaboo; steiff; babywalz; care.com; kinderkraft; vertbaudet; prénatal; hamleys; lego; mattel; hasbro; barbie; hot wheels; ^nerf; melissa & doug; toysrus; smyths; the entertainer; mytoys; baby-walz; ernsting s family; jako-o; mamas & papas; oshkosh; aptamil; milupa; cybex; maxi-cosi; britax; joie baby; graco; chicco; stokke; thule kids; tonies; vtech; ^leapfrog; ravensburger; ^haba; schleich; bruder; carrera; ^kosmos; asmodee; kindercare; bright horizons; goldfish swim; gymboree; chuck e cheese; build-a-bear; disney store; bobux',
  },
  {
    id: 'animals',
    family: 'animals',
    label: 'pets and vets',
    mcc: '0742, 5995',
    words:
      '~pet; ~pets; dog food; cat food; pet food; dog leash; cat litter; litter box; aquarium; veterinarian; vet bill; veterinary; puppy; kitten; kibble; hundefutter; katzenfutter; tierarzt; croquettes chien; vétérinaire; veterinario; dierenarts; horse riding; bird seed; hamster',
    companies:
      'petco; petsmart; chewy; fressnapf; zooplus; pets at home; royal canin; maxi zoo; purina; barkbox; futterhaus; rover.com; banfield; zoo royal; zooroyal; hill s pet; hill s pet nutrition; eukanuba; iams; mars petcare; whiskas; ^pedigree; animonda; josera; bosch tiernahrung; happy dog; trixie; ferplast; ^hunter; zoetis; elanco; idexx; covetrus; boehringer ingelheim animal health; vetoquinol; virbac; dechra; ceva; msd animal health; mwi animal health; patterson veterinary; heska; ^wdt; alfavet; albrecht; vetmedica; medpets; bitiba; barking heads; wag walking; ^vca; cvs vets; medivet; anicura; evidensia; tasso; agila; petplan; trupanion; embark vet; blue buffalo; ^tetra; juwel aquarium; ^jbl; ^sera; exo terra',
  },
  {
    id: 'sport',
    family: 'sport',
    label: 'sport and fitness',
    mcc: '5941, 7941, 7997',
    words:
      'gym; gym membership; fitness studio; yoga class; personal trainer; dumbbells; treadmill; bicycle; ~bike; mountain bike; ~golf; golf clubs; ~tennis; tennis racket; ~ski; skis; snowboard; surfboard; fishing rod; ~camping; ~tent; sleeping bag; ~hunting; football boots; protein powder; swimming pool pass; sportverein; fitnessstudio; fahrrad; vélo; bicicleta; fiets; marathon entry; kayak; climbing; skateboard; green fee',
    companies:
      'decathlon; planet fitness; mcfit; fitness first; urban sports club; classpass; virgin active; equinox; la fitness; basic-fit; dick s sporting goods; intersport; ^rei; sportscheck; wellpass; strava; canyon bicycles; trek bikes; specialized bikes; callaway; titleist; bergfreunde; globetrotter; myprotein; ^rapha; golf galaxy; crossfit; anytime fitness; pure gym; puregym; holmes place; sport 2000; sports direct; go outdoors; cotswold outdoor; ^blacks; ^millets; academy sports; bass pro; cabela s; big 5; backcountry; moosejaw; bergzeit; snowleader; au vieux campeur; xxl sport; ^wiggle; chain reaction cycles; evans cycles; halfords cycles; ^canyon; rose bikes; bike24; bike-discount; fahrrad.de; bikester; trek bicycle; ^specialized; giant bicycles; cannondale; scott sports; ^cube; brompton; shimano; sram; garmin; ^polar; ^suunto; wahoo fitness; zwift; peloton; technogym; life fitness; concept2; rogue fitness; nordictrack; bowflex; fitx; clever fit; john reed; basic fit; the gym group; david lloyd; 24 hour fitness; gold s gym; orangetheory; ^f45; wellhub; urban sports; taylormade; ^wilson; ^head; babolat; yonex; ^speedo; ^arena; ^burton; rossignol; ^atomic; fischer sports; ^salomon; vail resorts; ikon pass; alterra; skipass',
  },
  {
    id: 'adult',
    family: 'adult',
    label: 'adult goods and weapons',
    mcc: '5967, 7273',
    words:
      'adult content; porn; webcam model; sex toys; firearm; firearms; ammunition; handgun; rifle; pepper spray; cannabis; marijuana; cbd oil; fireworks; waffe; munition; thc; weed dispensary; switchblade',
    companies:
      'pornhub; chaturbate; eis.de; orion versand; lovehoney; smith & wesson; glock; adultfriendfinder; leafly; weedmaps; onlyfans; bongacams; livejasmin; fansly; manyvids; brazzers; adam & eve; beate uhse; amorelie; ^orion; ann summers; beretta; sig sauer; walther arms; heckler & koch; frankonia; brownells; midwayusa; palmetto state armory; guns.com; gunbroker; kentucky gun; lucky gunner',
  },
  {
    id: 'gifts_and_flowers',
    family: 'luxury',
    label: 'presents and flowers',
    mcc: '5947, 5992',
    words:
      'gift; gifts; present for; ~presents; bouquet; flowers bouquet; ~flowers; ~roses; birthday present; birthday gift; anniversary gift; greeting card; souvenir; souvenirs; geschenk; geschenke; blumen; blumenstrauß; cadeau; fleurs; regalo; flores; bloemen; gift basket; hamper; gift wrap; wedding gift; keepsake; florist',
    companies:
      'interflora; 1-800-flowers; ftd; fleurop; bloom & wild; teleflora; ^hallmark; moonpig; blume2000; etsy gifts; mydays; jochen schweizer; smartbox; funkypigeon; proflowers; not on the high street; euroflorist; geschenkidee; bloomandwild; valentins; florissima; ^blumen; funky pigeon; american greetings; card factory; clintons; ^papyrus; paperless post; ^minted; cafepress; ^zazzle; personalization mall; things remembered; notonthehighstreet; uncommongoods; harry & david; edible arrangements; hickory farms; fortnum & mason; hotel chocolat; thorntons; godiva; ghirardelli; see s candies; läderach; party city; partydeko; hello gifts; swarovski gifts; ^ostrich; monsterzeug; radbag; teamgeschenk',
  },
  {
    id: 'art_and_craft',
    family: 'art_and_craft',
    label: 'art, craft and music',
    mcc: '5733, 5949, 5970',
    words:
      '~craft; craft material; craft materials; craft supplies; felt sheets; glue sticks; guitar; piano; violin; ~drums; sheet music; music lessons; ~canvas painting; acrylic paint; watercolour; watercolor; oil paint; brushes; yarn; knitting; crochet; sewing; sewing machine; ~fabric; ~beads; embroidery; pottery; ~clay; easel; scrapbook; gitarre; klavier; wolle; ~stoff; tricot; guitarra; synthesizer; ~microphone; scale model',
    companies:
      'thomann; guitar center; sweetwater; hobby lobby; michaels stores; joann; ^fender; gibson; yamaha music; steinway; music store; reverb.com; boesner; gerstaecker; cass art; blick art; hobbycraft; buttinette; ^korg; ^roland; thomann music; sam ash; ^reverb; gear4music; andertons; dawsons; woodbrass; muziker; ibanez; kawai; bechstein; pearl drums; modulor; kreativ.de; idee creativmarkt; vbs hobby; michaels; dick blick; utrecht art; jackson s art; faber castell; winsor & newton; schmincke; ^copic; liquitex; golden artist colors; fabric.com; ^spoonflower; stoffe.de; mood fabrics; minerva fabrics; dritz; prym; gütermann; ^dmc; wool warehouse; drops design; lovecrafts; ravelry; bernina; pfaff; singer sewing; brother sewing; ^juki; cricut; silhouette america; leica camera; nikon; sony alpha; fujifilm; hasselblad; manfrotto; rent the camera; lensrentals; lenstip; ^calumet; adorama; wex photo; foto koch; foto erhardt; musicnotes; schott music; henle',
  },
  {
    id: 'charity',
    family: 'finance',
    label: 'donations',
    mcc: '8398, 8651, 8661',
    words:
      'donation; donations; donate; charity; charitable; fundraiser; spende; spenden; don caritatif; donación; donatie; political campaign contribution; tithe; crowdfunding; sponsorship of club',
    companies:
      'red cross; unicef; greenpeace; wwf; oxfam; save the children; doctors without borders; médecins sans frontières; amnesty international; caritas; salvation army; betterplace; wikimedia; ^kickstarter; actblue; winred; world vision; habitat for humanity; rotes kreuz; ^msf; wikipedia; mozilla foundation; free software foundation; electronic frontier foundation; ^eff; apache software foundation; open collective; github sponsors; liberapay; diakonie; malteser; johanniter; brot für die welt; misereor; care international; plan international; sos kinderdörfer; sos children s villages; unhcr; ^goodwill; united way; st jude; st. jude; american cancer society; feeding america; macmillan cancer; cancer research; ^rnli; rspca; aspca; humane society; justgiving; globalgiving; benevity; republican party; democratic party; labour party; ^cdu; ^spd',
  },
  {
    id: 'bicycles',
    family: 'sport',
    label: 'bicycles, their parts, tools and accessories',
    mcc: '5940',
    words: '',
    companies: '',
  },
  {
    id: 'fabrics_and_costumes',
    family: 'art_and_craft',
    label: 'fabrics, costumes and stage goods',
    mcc: '5131, 5949, 7296',
    words: '',
    companies: '',
  },
  {
    id: 'records_and_collectibles',
    family: 'entertainment',
    label: 'records and collectibles',
    mcc: '5733, 5735, 5972',
    words: '',
    companies: '',
  },
];

/**
 * Houses that sell nearly everything or only carry the payment: their name says nothing about what is bought.
 */
export const GENERAL_MERCHANTS =
  'amazon; amazon marketplace; ebay; alibaba; alibaba.com; aliexpress; walmart; ^target; costco; sam s club; etsy; rakuten; mercado libre; mercadolibre; bol.com; cdiscount; allegro; kaufland marketplace; galaxus; idealo; temu; wish.com; craigslist; facebook marketplace; paypal; stripe; square; adyen; sumup; mollie; shop pay; google pay; galeria; argos; tesco marketplace; conrad marketplace; flipkart; lazada; shopee; jd.com; taobao; dollar general; woot; qvc; groupon';

/** Families that no purpose of a business covers unless it says so. */
export const PRIVATE_FAMILIES: ReadonlySet<string> = new Set([
  'gaming',
  'gambling',
  'entertainment',
  'fashion_and_beauty',
  'luxury',
  'animals',
  'sport',
  'adult',
  'art_and_craft',
  'children',
]);

/** Words of the buyer's private circle; they break a constraint that forbids private use. */
export const PRIVATE_CIRCLE_WORDS =
  'wife; husband; girlfriend; boyfriend; my son; my daughter; my mother; my mom; my dad; my kids; kids; my family; private; personal; my birthday; anniversary; honeymoon; meine frau; mein mann; familie; ma femme; mi esposa; for myself; family; at home; my house; my flat; my car; spouse; my partner';
