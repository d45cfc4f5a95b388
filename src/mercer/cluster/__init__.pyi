from mercer.cluster.connection import use as use
from mercer.cluster.session import Session as Session
from mercer.cluster.traffic import Traffic as Traffic
